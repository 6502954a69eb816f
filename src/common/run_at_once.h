// Work that blocks, on threads of its own for as long as it lasts.
#pragma once

#include <cstddef>
#include <functional>

namespace sluice {

/// Runs work(0) … work(count - 1) on at most `most_threads` threads, of which the caller's is one,
/// or on fewer where there are no more to be had; returns when all are done.
void RunAtOnce(size_t count, size_t most_threads, const std::function<void(size_t)>& work);

}  // namespace sluice
