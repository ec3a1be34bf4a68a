// SPDX-License-Identifier: Apache-2.0
#include "base/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <type_traits>

namespace setpoint::base {
namespace {

constexpr long kMostRedirects = 5;

// libcurl, loaded when the first address is asked for: it and its thirty libraries cost every start
// of the program 6 ms (measured on `aiconf search --help`: 8 ms linked, 2 ms so).
struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_setopt) setopt = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) getinfo = nullptr;
  decltype(&curl_easy_strerror) strerror = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_all = nullptr;
  bool ready = false;
};

Curl load_curl() {
  Curl curl;
  void* library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return curl;
  bool all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function != nullptr;
  };
  find(curl.global_init, "curl_global_init");
  find(curl.init, "curl_easy_init");
  find(curl.cleanup, "curl_easy_cleanup");
  find(curl.setopt, "curl_easy_setopt");
  find(curl.perform, "curl_easy_perform");
  find(curl.getinfo, "curl_easy_getinfo");
  find(curl.strerror, "curl_easy_strerror");
  find(curl.append, "curl_slist_append");
  find(curl.free_all, "curl_slist_free_all");
  // libcurl asks for one global start per process.
  curl.ready = all && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return curl;
}

const Curl& libcurl() {
  static const Curl curl = load_curl();
  return curl;
}

struct Sink {
  std::string body;
  std::size_t most = 0;
  bool overflow = false;
};

std::size_t take(char* data, std::size_t size, std::size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const std::size_t bytes = size * count;
  if (sink.body.size() + bytes > sink.most) {
    sink.overflow = true;
    return 0;
  }
  sink.body.append(data, bytes);
  return bytes;
}

struct FreeList {
  void operator()(curl_slist* list) const { libcurl().free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

// libcurl leaves the list as it was when it runs out of memory; the header is then missing, which
// the server's answer shows.
Headers header_list(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) {
    if (curl_slist* longer = libcurl().append(list, line.c_str())) list = longer;
  }
  return Headers(list);
}

void set_options(CURL* curl, const HttpGet& request, const curl_slist* headers, Sink& sink,
                 char* reason) {
  const auto set = libcurl().setopt;
  set(curl, CURLOPT_URL, request.url.c_str());
  set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  set(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(curl, CURLOPT_FOLLOWLOCATION, 1L);
  set(curl, CURLOPT_MAXREDIRS, kMostRedirects);
  set(curl, CURLOPT_CONNECTTIMEOUT_MS, request.connect_timeout_ms);
  set(curl, CURLOPT_TIMEOUT_MS, request.total_timeout_ms);
  set(curl, CURLOPT_NOSIGNAL, 1L);
  set(curl, CURLOPT_ACCEPT_ENCODING, "");
  set(curl, CURLOPT_USERAGENT, "setpoint");
  set(curl, CURLOPT_HTTPHEADER, headers);
  set(curl, CURLOPT_WRITEFUNCTION, &take);
  set(curl, CURLOPT_WRITEDATA, &sink);
  set(curl, CURLOPT_ERRORBUFFER, reason);
}

}  // namespace

Result<HttpAnswer> http_get(const HttpGet& request) {
  const Curl& library = libcurl();
  if (!library.ready) {
    return Error::environment(
        fmt::format("{}: libcurl.so.4 is not installed or does not start", request.url));
  }
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(library.init(), library.cleanup);
  if (!curl) return Error::environment("libcurl does not start");
  const Headers headers = header_list(request.headers);
  Sink sink;
  sink.most = request.most_bytes;
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_options(curl.get(), request, headers.get(), sink, reason.data());
  const CURLcode code = library.perform(curl.get());
  if (sink.overflow) {
    return Error::environment(
        fmt::format("{}: answer is larger than {} bytes", request.url, request.most_bytes));
  }
  if (code != CURLE_OK) {
    const char* text = reason[0] != '\0' ? reason.data() : library.strerror(code);
    return Error::environment(fmt::format("{}: {}", request.url, text));
  }
  HttpAnswer answer;
  library.getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::move(sink.body);
  return answer;
}

}  // namespace setpoint::base
