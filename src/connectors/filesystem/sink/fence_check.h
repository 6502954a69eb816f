// Every part of the sink asks, before it writes, whether the job is still this process's.
#pragma once

#include "runtime/fence.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

inline Status CheckFence(const runtime::Fence* fence) {
  return fence == nullptr ? Status() : fence->Check();
}
inline Status CheckFence(const runtime::TaskContext& context) { return CheckFence(context.fence); }

}  // namespace sluice::connectors::filesystem
