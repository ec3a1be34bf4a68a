# SPDX-License-Identifier: Apache-2.0
# Writes a C++ file that holds FILES (relative to ROOT) as bytes, found by path: base/embedded.h.
# The assembler copies the bytes, which keeps megabytes of data out of the compiler.
set(text "#include \"base/embedded.h\"\n")
set(table "")
set(i 0)
foreach(file IN LISTS FILES)
  string(APPEND text "asm(\".section .rodata\\n.balign 16\\nsp_file_${i}:\\n.incbin \\\"${ROOT}/${file}\\\"\\n"
                     "sp_file_end_${i}:\\n.byte 0\\n.previous\");\n"
                     "extern const char sp_file_${i}[] asm(\"sp_file_${i}\");\n"
                     "extern const char sp_file_end_${i}[] asm(\"sp_file_end_${i}\");\n")
  string(APPEND table "  {\"${file}\", sp_file_${i}, sp_file_end_${i}},\n")
  math(EXPR i "${i} + 1")
endforeach()
string(APPEND text "namespace setpoint::base::detail {\n"
                   "extern const EmbeddedFile kEmbeddedFiles[] = {\n${table}  {nullptr, nullptr, nullptr}};\n"
                   "extern const unsigned long kEmbeddedFileCount = ${i};\n}\n")
file(WRITE ${OUT} "${text}")
