//===- Embed.h - Files in a program -----------------------------*- C++ -*-===//

#ifndef HEDDLE_TOOLS_EMBED_H
#define HEDDLE_TOOLS_EMBED_H

/// Puts the bytes of the file PATH, a string literal, between NAME##Begin and
/// NAME##End. What uses it depends on the file in CMakeLists.txt.
#define HEDDLE_EMBED(NAME, PATH)                                               \
  asm(".pushsection .rodata." #NAME ",\"a\",@progbits\n"                       \
      ".balign 16\n"                                                           \
      ".globl " #NAME "Begin\n.hidden " #NAME "Begin\n" #NAME "Begin:\n"       \
      ".incbin \"" PATH "\"\n"                                                 \
      ".globl " #NAME "End\n.hidden " #NAME "End\n" #NAME "End:\n"             \
      ".popsection");                                                          \
  extern "C" [[gnu::visibility("hidden")]] const char NAME##Begin[], NAME##End[]

#endif // HEDDLE_TOOLS_EMBED_H
