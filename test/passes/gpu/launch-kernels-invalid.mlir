// RUN: heddle-opt %s -transformer-launch-kernels -split-input-file -verify-diagnostics

func.func private @reads_on_the_host(%x: memref<?xf32>) -> f32 attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{reads or writes the device's memory outside of a parallel loop}}
  %v = memref.load %x[%c0] : memref<?xf32>
  return %v : f32
}

// -----

func.func private @nested(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    // expected-error @+1 {{stands in another parallel loop}}
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
    }
  }
  return
}

// -----

func.func private @steps(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{expected dimensions that count from 0 by 1}}
  scf.parallel (%i) = (%c0) to (%c4) step (%c2) {
  }
  return
}

// -----

func.func private @sums(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{has results, expected iterations that write memory}}
  %sum = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
    scf.reduce(%zero : f32) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      scf.reduce.return %c : f32
    }
  }
  return
}

// -----

func.func private @elsewhere(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{stands neither in an entry point nor in a kernel}}
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
  }
  return
}

// -----

func.func private @blocks_in_a_plane(%x: memref<?xf32>) attributes {transformer.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @+1 {{has blocks in more than one dimension}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c4) step (%c1, %c1) {
  } {transformer.launch = {shared_bytes = 0 : i64, threads = 64 : i64}}
  return
}

// -----

func.func private @memory_of_two_dimensions(%n: index) attributes {transformer.kernel} {
  // expected-error @+1 {{expected memory of one dimension}}
  %memory = memref.alloc(%n) : memref<?x8xf32>
  return
}

// -----

func.func private @memory_twice(%n: index) attributes {transformer.kernel} {
  %memory = memref.alloc(%n) : memref<?xf32>
  // expected-error @+1 {{is the second scratch memory of its function}}
  %more = memref.alloc(%n) : memref<?xf32>
  return
}
