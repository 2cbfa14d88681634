#include "supple/lattice/block_vector.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace supple {
namespace {

constexpr size_t huge_page = size_t{1} << 21;
// Loops ask for numbers some blocks ahead, and so do processors: past the end of an array too.
// Lines of the cache that another thread writes must not lie there, or they would be taken from it.
constexpr size_t asked_beyond = size_t{1} << 13;

std::align_val_t alignment_for(size_t bytes) {
  return std::align_val_t{bytes >= huge_page ? huge_page : 64};
}

}  // namespace

void* allocate_aligned(size_t bytes) {
  void* memory = ::operator new(bytes + asked_beyond, alignment_for(bytes));
#ifdef __linux__
  if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_aligned(void* memory, size_t bytes) { ::operator delete(memory, alignment_for(bytes)); }

}  // namespace supple
