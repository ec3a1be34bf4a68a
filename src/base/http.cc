// SPDX-License-Identifier: Apache-2.0
#include "base/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <mutex>

namespace setpoint::base {
namespace {

constexpr long kMostRedirects = 5;

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
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

// libcurl leaves the list as it was when it runs out of memory; the header is then missing, which
// the server's answer shows.
Headers header_list(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) {
    if (curl_slist* longer = curl_slist_append(list, line.c_str())) list = longer;
  }
  return Headers(list);
}

void set_options(CURL* curl, const HttpGet& request, const curl_slist* headers, Sink& sink,
                 char* reason) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMostRedirects);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, request.connect_timeout_ms);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request.total_timeout_ms);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "setpoint");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
}

}  // namespace

Result<HttpAnswer> http_get(const HttpGet& request) {
  static std::once_flag once;  // libcurl asks for one global start per process
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (!curl) return Error::environment("libcurl does not start");
  const Headers headers = header_list(request.headers);
  Sink sink;
  sink.most = request.most_bytes;
  std::array<char, CURL_ERROR_SIZE> reason{};
  set_options(curl.get(), request, headers.get(), sink, reason.data());
  const CURLcode code = curl_easy_perform(curl.get());
  if (sink.overflow) {
    return Error::environment(
        fmt::format("{}: answer is larger than {} bytes", request.url, request.most_bytes));
  }
  if (code != CURLE_OK) {
    const char* text = reason[0] != '\0' ? reason.data() : curl_easy_strerror(code);
    return Error::environment(fmt::format("{}: {}", request.url, text));
  }
  HttpAnswer answer;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::move(sink.body);
  return answer;
}

}  // namespace setpoint::base
