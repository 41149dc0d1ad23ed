// Reads meshes of Gmsh's ASCII format 2.2: https://gmsh.info/doc/texinfo/gmsh.html, "MSH file format version 2".
// as: host
#include <ferry/core/error.hpp>
#include <fstream>
#include <map>
#include <unordered_map>

#include "euler.hpp"
#include "mesh.hpp"

namespace {

class reader {
 public:
  explicit reader(const std::string& file) : in_(file) {
    if (!in_) throw ferry::invalid_argument("the file cannot be opened");
  }
  mesh read() {
    for (std::string section; in_ >> section;) {
      if (section == "$MeshFormat")
        format();
      else if (section == "$PhysicalNames")
        names();
      else if (section == "$Nodes")
        points();
      else if (section == "$Elements")
        elements();
      else if (section.front() != '$')
        throw ferry::invalid_argument("'" + section + "' is not the begin of a section of Gmsh");
      if (!has_format_) throw ferry::invalid_argument("it has no $MeshFormat at its begin");
      const std::string end = "$End" + section.substr(1);
      for (std::string word; word != end;)
        if (!(in_ >> word)) throw ferry::invalid_argument("it ends inside of " + section);
    }
    if (m_.triangles.empty()) throw ferry::invalid_argument("it has no triangles");
    connect(m_);
    return std::move(m_);
  }

 private:
  template <class T>
  T next(const char* what) {
    T x;
    if (!(in_ >> x)) throw ferry::invalid_argument(std::string("there should be ") + what + ", and is not");
    return x;
  }
  void format() {
    const auto version = next<std::string>("a version");
    const int is_binary = next<int>("the kind of file");
    if (version.substr(0, 2) != "2." || is_binary != 0)
      throw ferry::invalid_argument("it has version " + version + (is_binary ? ", binary" : "") +
                                    ": write version 2.2 as text, `gmsh -2 -format msh22`");
    has_format_ = true;
  }
  void names() {
    for (auto n = next<long>("the number of names"); n > 0; --n) {
      const int dimension = next<int>("the dimension of a name"), tag = next<int>("the tag of a name");
      std::string name;
      std::getline(in_, name);
      const auto begin = name.find('"'), end = name.rfind('"');
      if (begin == end) throw ferry::invalid_argument("a physical name has no quotation marks");
      if (dimension == 1) kind_of_[tag] = name.substr(begin + 1, end - begin - 1);
    }
  }
  void points() {
    for (auto n = next<long>("the number of points"); n > 0; --n) {
      const auto id = next<long>("the number of a point");
      const double x = next<double>("a coordinate"), y = next<double>("a coordinate");
      next<double>("a coordinate");
      if (!place_of_.emplace(id, static_cast<int>(m_.points.size())).second)
        throw ferry::invalid_argument("there are two points " + std::to_string(id));
      m_.points.push_back({x, y});
    }
  }
  int point() {
    const auto id = next<long>("a point of an element");
    const auto found = place_of_.find(id);
    if (found == place_of_.end()) throw ferry::invalid_argument("there is no point " + std::to_string(id));
    return found->second;
  }
  void elements() {
    constexpr int line = 1, triangle = 2, single_point = 15;
    for (auto n = next<long>("the number of elements"); n > 0; --n) {
      const auto id = next<long>("the number of an element");
      const int type = next<int>("the type of an element"), tags = next<int>("the number of tags");
      const int tag = tags > 0 ? next<int>("a tag") : 0;
      for (int k = 1; k < tags; ++k) next<int>("a tag");
      if (type == line) {
        const int a = point(), b = point();
        m_.boundary.push_back({{a, b}, kind(tag)});
      } else if (type == triangle) {
        const int a = point(), b = point(), c = point();
        add(id, {a, b, c});
      } else if (type == single_point) {
        point();
      } else {
        throw ferry::invalid_argument("element " + std::to_string(id) + " has type " + std::to_string(type) +
                                      ": only lines and triangles of first order are read");
      }
    }
  }
  int kind(int tag) const {
    const auto found = kind_of_.find(tag);
    const std::string name = found == kind_of_.end() ? "" : found->second;
    if (name == "wall") return euler::boundary::wall;
    if (name == "inflow") return euler::boundary::inflow;
    if (name == "outflow") return euler::boundary::outflow;
    throw ferry::invalid_argument("a side has the physical name '" + name + "': it must be inflow, outflow or wall");
  }
  void add(long id, mesh::triangle t) {
    const auto at = [&](std::size_t k) { return m_.points[static_cast<std::size_t>(t[k])]; };
    const mesh::point a = at(0), b = at(1), c = at(2);
    const double turn = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if (turn == 0) throw ferry::invalid_argument("triangle " + std::to_string(id) + " has no area");
    if (turn < 0) std::swap(t[1], t[2]);
    m_.triangles.push_back(t);
  }

  std::ifstream in_;
  mesh m_;
  bool has_format_ = false;
  std::map<int, std::string> kind_of_;
  std::unordered_map<long, int> place_of_;
};

}  // namespace

mesh read_mesh(const std::string& file) {
  try {
    return reader(file).read();
  } catch (const ferry::invalid_argument& e) {
    throw ferry::invalid_argument("the mesh '" + file + "' cannot be read: " + e.text());
  }
}
