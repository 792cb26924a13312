//===- VirtualMemoryTests.cpp - Addresses and what is mapped there --------===//

#include "FakeDriverTest.h"

using namespace heddle::emulator;

namespace {

constexpr size_t kGranule = 2 << 20;

/// Four granules of addresses.
class VirtualMemoryTest : public FakeDriverTest {
protected:
  VirtualMemoryTest() {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = access.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_EQ(call("cuMemAddressReserve", &addresses, 4 * kGranule, size_t(0),
                   CUdeviceptr(0), 0ull),
              CUDA_SUCCESS);
  }

  CUmemGenericAllocationHandle create() {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(call("cuMemCreate", &handle, kGranule,
                   static_cast<const CUmemAllocationProp *>(&properties), 0ull),
              CUDA_SUCCESS);
    return handle;
  }
  CUresult map(int granule, CUmemGenericAllocationHandle handle) {
    return call("cuMemMap", at(granule), kGranule, size_t(0), handle, 0ull);
  }
  CUresult allow(int granule, int count = 1) {
    return call("cuMemSetAccess", at(granule), count * kGranule,
                static_cast<const CUmemAccessDesc *>(&access), size_t(1));
  }
  CUresult unmap(int granule, int count = 1) {
    return call("cuMemUnmap", at(granule), count * kGranule);
  }
  CUresult release(CUmemGenericAllocationHandle handle) {
    return call("cuMemRelease", handle);
  }
  CUdeviceptr at(int granule) const { return addresses + granule * kGranule; }
  size_t used() {
    size_t free = 0, total = 0;
    EXPECT_EQ(call("cuMemGetInfo_v2", &free, &total), CUDA_SUCCESS);
    return total - free;
  }
  std::vector<int> read(CUdeviceptr from) {
    std::vector<int> values(2);
    EXPECT_EQ(download(values, from), CUDA_SUCCESS);
    EXPECT_EQ(synchronize(), CUDA_SUCCESS);
    return values;
  }

  CUmemAllocationProp properties = {};
  CUmemAccessDesc access = {};
  CUdeviceptr addresses = 0;
};

TEST_F(VirtualMemoryTest, NeighboursAreReadTogether) {
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(map(0, create()), CUDA_SUCCESS);
  EXPECT_EQ(map(1, create()), CUDA_SUCCESS);
  EXPECT_EQ(used(), 2 * kGranule);
  EXPECT_EQ(allow(0, 2), CUDA_SUCCESS);
  EXPECT_EQ(read(at(1) - 4), std::vector<int>(2, -1));
  EXPECT_EQ(upload(at(1) - 4, std::vector<int>{3, 4}), CUDA_SUCCESS);
  EXPECT_EQ(read(at(1) - 4), (std::vector<int>{3, 4}));
  EXPECT_EQ(upload(at(2) - 4, std::vector<int>{3, 4}),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemoryTest, OneAllocationStandsAtTwoAddresses) {
  CUmemGenericAllocationHandle handle = create();
  EXPECT_EQ(map(0, handle), CUDA_SUCCESS);
  EXPECT_EQ(map(2, handle), CUDA_SUCCESS);
  EXPECT_EQ(allow(0), CUDA_SUCCESS);
  EXPECT_EQ(allow(2), CUDA_SUCCESS);
  EXPECT_EQ(upload(at(2), std::vector<int>{3, 4}), CUDA_SUCCESS);
  EXPECT_EQ(read(at(0)), (std::vector<int>{3, 4}));
  // It is there until its last mapping is gone.
  EXPECT_EQ(release(handle), CUDA_SUCCESS);
  EXPECT_EQ(unmap(0), CUDA_SUCCESS);
  EXPECT_EQ(used(), kGranule);
  EXPECT_EQ(read(at(2)), (std::vector<int>{3, 4}));
  EXPECT_EQ(unmap(2), CUDA_SUCCESS);
  EXPECT_EQ(used(), 0u);
  EXPECT_EQ(upload(at(2), std::vector<int>{3, 4}), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemoryTest, WrongCallsFail) {
  CUmemGenericAllocationHandle handle = create();
  EXPECT_EQ(map(4, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemMap", at(0) + 4096, kGranule, size_t(0), handle, 0ull),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(1, handle), CUDA_SUCCESS);
  EXPECT_EQ(map(1, handle), CUDA_ERROR_INVALID_VALUE);
  // Nobody has allowed to access it.
  EXPECT_EQ(upload(at(1), std::vector<int>{3}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(0, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(allow(1, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(unmap(0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(unmap(0, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAddressFree", addresses, 4 * kGranule),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(unmap(1), CUDA_SUCCESS);
  EXPECT_EQ(release(handle), CUDA_SUCCESS);
  EXPECT_EQ(release(handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(1, handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(call("cuMemAddressFree", addresses, 4 * kGranule), CUDA_SUCCESS);
}

TEST_F(VirtualMemoryTest, WhatIsUsedIsNotUnmapped) {
  EXPECT_EQ(map(0, create()), CUDA_SUCCESS);
  EXPECT_EQ(allow(0), CUDA_SUCCESS);
  EXPECT_EQ(upload(at(0), std::vector<int>{3, 4}), CUDA_SUCCESS);
  EXPECT_EQ(unmap(0), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(VirtualMemoryTest, ADeviceMayMapNothing) {
  setenv("HEDDLE_FAKE_CUDA_GRANULARITY", "0");
  start();
  int isSupported = 1;
  EXPECT_EQ(call("cuDeviceGetAttribute", &isSupported,
                 CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                 CUdevice(0)),
            CUDA_SUCCESS);
  EXPECT_EQ(isSupported, 0);
  EXPECT_EQ(call("cuMemAddressReserve", &addresses, 4 * kGranule, size_t(0),
                 CUdeviceptr(0), 0ull),
            CUDA_ERROR_NOT_SUPPORTED);
}

} // namespace
