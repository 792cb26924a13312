    %size = arith.constant 8 : i32
    %chunks = transformer.mask.where within [left = 7, right = 7] {
    ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
      %query_chunk = arith.divui %i, %size : i32
      %key_chunk = arith.divui %j, %size : i32
      %is = arith.cmpi eq, %query_chunk, %key_chunk : i32
      transformer.yield %is : i1
    }
