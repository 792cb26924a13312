//===- RelocatedCode.c - Code with everything that is relocated ---*- C -*-===//
//
// Pointers to functions and data of its own, imports that are called and one
// whose address is taken, data that changes, and zeros behind it.
//
//===----------------------------------------------------------------------===//

#include <math.h>
#include <string.h>

static int plusOne(int x) { return x + 1; }
static int timesTwo(int x) { return x * 2; }
static int (*const functions[])(int) = {plusOne, timesTwo, plusOne};
static const char *const names[] = {"plus one", "times two"};
static float (*volatile import)(float) = erff;
static int counter = 5;
static char zeros[3 * 4096];

int call(int which, int x) { return functions[which](x); }
const char *nameOf(int which) { return names[which]; }
float error(float x) { return import(x); }
int count(void) { return ++counter; }

/// The sum of memory that should be zero, which then is not any more.
int sumOfZeros(void) {
  int sum = 0;
  for (unsigned i = 0; i < sizeof(zeros); ++i)
    sum += zeros[i];
  memset(zeros, 1, sizeof(zeros));
  return sum;
}
