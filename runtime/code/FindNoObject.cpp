//===- FindNoObject.cpp - What libgcc asks of glibc 2.35 ------------------===//
//
// The unwinder that is linked with heddle-run and libheddle.so asks glibc which
// object an address is in, by a function that glibc 2.34 has not. The answer is
// that there is none: nothing is unwound, and an exception of ours ends the
// program, as it would anyway, since nothing catches one. Exceptions of others
// are for their own unwinder.
//
//===----------------------------------------------------------------------===//

struct dl_find_object;

extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void *,
                                                             dl_find_object *) {
  return -1;
}
