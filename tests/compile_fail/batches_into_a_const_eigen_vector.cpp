// expect: out\(\) and inout\(\) of an Eigen object that cannot be written
#include <ferry/ferry.hpp>

// Has the members by which ferry recognises Eigen types.
template <class T>
struct vector_of_eigen {
  using Scalar = std::remove_const_t<T>;
  static constexpr bool IsVectorAtCompileTime = true;
  T* all;
  T* data() const { return all; }
  std::ptrdiff_t outerSize() const { return 1; }
  std::ptrdiff_t innerSize() const { return 10; }
  std::ptrdiff_t outerStride() const { return 10; }
  std::ptrdiff_t innerStride() const { return 1; }
};

int main() {
  float elements[10] = {};
#ifdef FERRY_WRONG
  vector_of_eigen<const float> to{elements};
#else
  vector_of_eigen<float> to{elements};
#endif
  for (auto&& piece : ferry::batches(ferry::out(to))) ferry::fill(piece, 1.f);
}
