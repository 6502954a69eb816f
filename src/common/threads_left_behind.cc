#include "common/threads_left_behind.h"

#include <atomic>

namespace sluice {
namespace {

std::atomic<int> g_count{0};

}  // namespace

void ThreadsLeftBehind::Add() { ++g_count; }
void ThreadsLeftBehind::Remove() { --g_count; }
bool ThreadsLeftBehind::Any() { return g_count.load() > 0; }

}  // namespace sluice
