// Parallel loops that are no tasks.
// RUN: heddle-opt %s -transformer-lower-parallel -verify-diagnostics -split-input-file

func.func private @two_dimensions(%n: index) attributes {transformer.kernel} {
  // expected-error @below {{expected one dimension that counts from 0 by 1}}
  scf.forall (%i, %j) in (%n, %n) {
  }
  return
}

// -----

func.func private @other_bounds(%n: index) attributes {transformer.kernel} {
  // expected-error @below {{expected one dimension that counts from 0 by 1}}
  scf.forall (%i) = (1) to (%n) step (1) {
  }
  return
}

// -----

func.func private @results(%n: index, %x: tensor<?xf32>) attributes {transformer.kernel} {
  // expected-error @below {{has results, expected tasks that write memory}}
  %y = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<?xf32> {
    scf.forall.in_parallel {
    }
  }
  return
}

// -----

func.func private @nested(%n: index) attributes {transformer.kernel} {
  scf.forall (%i) in (%n) {
    // expected-error @below {{stands in another parallel loop}}
    scf.forall (%j) in (%n) {
    }
  }
  return
}

// -----

func.func private @inner(%n: index) attributes {transformer.kernel} {
  scf.forall (%i) in (%n) {
  }
  return
}
func.func private @nested_through_a_call(%n: index) attributes {transformer.kernel} {
  scf.forall (%i) in (%n) {
    // expected-error @below {{'func.call' op stands in a parallel loop, but 'inner' has one itself}}
    func.call @inner(%n) : (index) -> ()
  }
  return
}

// -----

func.func @no_kernel(%n: index) {
  // expected-error @below {{stands neither in an entry point nor in a kernel}}
  scf.forall (%i) in (%n) {
  }
  return
}

// -----

func.func private @kernel(%n: index) attributes {transformer.kernel} {
  scf.forall (%i) in (%n) {
  }
  return
}
func.func @caller_without_a_call(%n: index) {
  // expected-error @below {{'func.call' op calls a kernel with a parallel loop, but stands neither in an entry point nor in a kernel}}
  call @kernel(%n) : (index) -> ()
  return
}

// -----

func.func private @type_without_a_form(%n: index, %x: tensor<?xf32>) attributes {transformer.kernel} {
  // expected-error @below {{reads a value of type 'tensor<?xf32>', which has no form in LLVM}}
  scf.forall (%i) in (%n) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
  }
  return
}

// -----

func.func @no_call() -> index {
  // expected-error @below {{stands neither in an entry point nor in a kernel}}
  %threads = transformer.threads
  return %threads : index
}
