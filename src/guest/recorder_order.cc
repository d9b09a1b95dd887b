// SPDX-License-Identifier: Apache-2.0
#include "guest/recorder_order.h"

#include <exception>
#include <nlohmann/json.hpp>

namespace strata::guest {
namespace {

using Json = nlohmann::ordered_json;

NLOHMANN_JSON_SERIALIZE_ENUM(RecorderNews::What, {{RecorderNews::What::Started, "started"},
                                                  {RecorderNews::What::Explained, "explained"},
                                                  {RecorderNews::What::Status, "status"},
                                                  {RecorderNews::What::Warning, "warning"},
                                                  {RecorderNews::What::Ended, "ended"},
                                                  {RecorderNews::What::Failed, "failed"}})

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Error not_understood(const std::exception& error) { return {"", std::nullopt, error.what()}; }

}  // namespace

std::string to_json(const RecorderOrder& order) {
  Json pages = Json::array();
  for (const RecorderOrder::Pages& cpu : order.pages)
    pages.push_back({{"cpu", cpu.cpu}, {"descriptor", cpu.descriptor}});
  return line_of({{"session", order.session},
                  {"folder", order.folder},
                  {"threads", order.threads},
                  {"pages", std::move(pages)},
                  {"request", to_json(order.request)}});
}

Result<RecorderOrder> parse_recorder_order(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    RecorderOrder order;
    json.at("session").get_to(order.session);
    json.at("folder").get_to(order.folder);
    json.at("threads").get_to(order.threads);
    for (const Json& cpu : json.at("pages"))
      order.pages.push_back({cpu.at("cpu").get<uint32_t>(), cpu.at("descriptor").get<int>()});
    Result<Request> request = parse_request(json.at("request").get<std::string>());
    if (!request) return std::move(request).error();
    order.request = *std::move(request);
    return order;
  } catch (const std::exception& error) {
    return not_understood(error);
  }
}

std::string to_json(const RecorderNews& news) {
  return line_of({{"what", news.what},
                  {"text", news.text},
                  {"clock", news.clock},
                  {"begin", news.begin},
                  {"page_size", news.page_size},
                  {"events", news.events},
                  {"bytes", news.bytes},
                  {"lost", news.lost},
                  {"fill", news.fill}});
}

Result<RecorderNews> parse_recorder_news(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    RecorderNews news;
    json.at("what").get_to(news.what);
    json.at("text").get_to(news.text);
    json.at("clock").get_to(news.clock);
    json.at("begin").get_to(news.begin);
    json.at("page_size").get_to(news.page_size);
    json.at("events").get_to(news.events);
    json.at("bytes").get_to(news.bytes);
    json.at("lost").get_to(news.lost);
    json.at("fill").get_to(news.fill);
    return news;
  } catch (const std::exception& error) {
    return not_understood(error);
  }
}

}  // namespace strata::guest
