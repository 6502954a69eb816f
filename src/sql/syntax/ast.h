// The syntax tree: everything the parser makes and the binder walks.
#pragma once

#include "sql/syntax/expression.h"
#include "sql/syntax/node.h"
#include "sql/syntax/query.h"
#include "sql/syntax/statement.h"
