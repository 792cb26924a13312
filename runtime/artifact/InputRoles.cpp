//===- InputRoles.cpp - What entries are given ----------------------------===//
//
// ArtifactFormat.h says what stands in them.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/InputRoles.h"

#include <algorithm>

using namespace heddle;

const std::vector<InputRole> &heddle::sourceRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Batch, Dim::Source},
      {"lengths", Dim::Batch},
      {"types", Dim::Batch, Dim::Source},
      {"source_positions", Dim::Batch, Dim::Source},
      {"global", Dim::Batch, Dim::Globals},
      {"prompt", Dim::Batch},
      {"masks", Dim::Batch, Dim::Masks},
      {"candidates", Dim::Batch, Dim::Shortlist},
      {"counts", Dim::Batch}};
  return roles;
}

const std::vector<InputRole> &heddle::raggedRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Tokens},
      {"lengths", Dim::Batch},
      {"types", Dim::Tokens},
      {"source_positions", Dim::Tokens},
      {"global", Dim::Batch, Dim::Globals},
      {"prompt", Dim::Batch},
      {"masks", Dim::Masks},
      {"candidates", Dim::Batch, Dim::Shortlist},
      {"counts", Dim::Batch},
      {"positions", Dim::Tokens},
      {"sequences", Dim::Tokens},
      {"starts", Dim::Batch},
      {"blocks", Dim::Blocks}};
  return roles;
}

const std::vector<InputRole> &heddle::stepRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Rows},
      {"positions", Dim::Rows},
      {"sentences", Dim::Rows},
      {"caches", Dim::Rows},
      {"history", Dim::Rows, Dim::Capacity},
      {"forbidden", Dim::Rows, Dim::Forbidden}};
  return roles;
}

const std::vector<InputRole> &heddle::extendRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Tokens},
      {"positions", Dim::Tokens},
      {"sentences", Dim::Tokens},
      {"caches", Dim::Tokens},
      {"prefill", Dim::Blocks},
      {"wanted", Dim::Wanted},
      {"wanted_sentences", Dim::Wanted}};
  return roles;
}

const std::vector<InputRole> &heddle::chunkRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Batch, Dim::Target},
      {"target_lengths", Dim::Batch},
      {"wanted", Dim::Batch, Dim::Wanted},
      {"caches", Dim::Batch}};
  return roles;
}

const std::vector<InputRole> &heddle::targetRoles() {
  static const std::vector<InputRole> roles = {
      {"ids", Dim::Batch, Dim::Target}};
  return roles;
}

static auto find(const std::vector<InputRole> &roles, std::string_view name) {
  return std::find_if(roles.begin(), roles.end(),
                      [&](const InputRole &role) { return role.name == name; });
}

const InputRole &heddle::inputRole(const std::vector<InputRole> &roles,
                                   std::string_view name) {
  return *find(roles, name);
}

bool heddle::isInputRole(std::string_view name) {
  for (auto *roles : {&sourceRoles(), &raggedRoles(), &stepRoles(),
                      &extendRoles(), &chunkRoles()})
    if (find(*roles, name) != roles->end())
      return true;
  return false;
}
