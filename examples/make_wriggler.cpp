// Writes the wriggler, the quickest actor to make: make_wriggler FILE.glb [RINGS]
#include <cstdio>
#include <cstdlib>

#include "actors/wriggler.h"
#include "supple/core/error.h"
#include "supple/io/character_writer.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_wriggler FILE.glb [RINGS]\n");
    return 2;
  }
  try {
    supple::write_character(argv[1], supple::actors::wriggler(argc > 2 ? std::atoi(argv[2]) : 120));
  } catch (const supple::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 4;
  }
}
