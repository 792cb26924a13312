transformer.parameter @table : tensor<4x2xf32>
transformer.parameter @gamma : tensor<2xf32>
transformer.parameter @beta : tensor<2xf32>

func.func private @f(%ids: tensor<?x?xi32>) -> tensor<?x?x2xf32> {
  %table = transformer.weight @table : tensor<4x2xf32>
  %gamma = transformer.weight @gamma : tensor<2xf32>
  %beta = transformer.weight @beta : tensor<2xf32>
  %x = transformer.embedding %ids, %table : (tensor<?x?xi32>, tensor<4x2xf32>) -> tensor<?x?x2xf32>
  %y = transformer.norm layer %x, %gamma, %beta {epsilon = 1.0e-05 : f32} : (tensor<?x?x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}
