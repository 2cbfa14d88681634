// The supple program.
#include <cstdio>

#include "supple/core/version.h"

int main() { std::printf("supple %s\n", supple::version); }
