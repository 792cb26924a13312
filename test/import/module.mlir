// A module in the dialect is a model description: parameters without a source
// are bound by name; what is printed is bound.
// RUN: heddle-compile %s --emit=mlir -o - \
// RUN:   --weights %{source}/test/goldens/bart-one-layer/model.safetensors \
// RUN:   | FileCheck %s
// RUN: not heddle-compile %s --emit=mlir -o - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNBOUND
// RUN: not heddle-compile %s --emit=mlir -o - \
// RUN:   --weights %{source}/test/goldens/bart-untied/model.safetensors 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHAPE
// RUN: sed -e 's/@final/@initial/' %s > %t.mlir
// RUN: not heddle-compile %t.mlir --emit=mlir -o - \
// RUN:   --weights %{source}/test/goldens/bart-one-layer/model.safetensors 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: sed -e 's/tensor<1x61xf32>$/tensor<1x61xf33>/' %s > %t.mlir
// RUN: not heddle-compile %t.mlir --emit=mlir -o - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SYNTAX

// CHECK: transformer.parameter @final_logits_bias : tensor<1x61xf32> from <"model.safetensors", offset = {{[0-9]+}}, encoding = f32>
// UNBOUND: heddle-compile: error: parameter 'final_logits_bias' has no source: its file has to be given with --weights
// SHAPE: heddle-compile: error: tensor 'final_logits_bias' of 'model.safetensors' has shape [1, 97] but the parameter needs [1, 61]
// NAME: heddle-compile: error: '{{.*}}model.safetensors' has no tensor 'initial_logits_bias' for the parameter of this name
// SYNTAX: heddle-compile: error: {{.*}}.mlir:[[#]]:[[#]]: expected non-function type
transformer.parameter @final_logits_bias : tensor<1x61xf32>
