#include "fs/s3/s3_xml.h"

#include <ctime>

#include <pugixml.hpp>

#include "common/text.h"

namespace sluice::fs::s3 {
namespace {

/// Loads a document with the wanted root.
Result<pugi::xml_node> Load(std::string_view body, pugi::xml_document* document,
                            std::string_view root) {
  const pugi::xml_parse_result parsed = document->load_buffer(
      body.data(), body.size(), pugi::parse_default | pugi::parse_ws_pcdata_single);
  const pugi::xml_node node = document->document_element();
  if (!parsed || std::string_view(node.name()) != root) {
    return Status::Unavailable("The answer is no complete <" + std::string(root) +
                               "> document: " + Printable(body, 80));
  }
  return node;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string UrlDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
        HexDigit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

/// A text of a list, decoded when the store says that it has encoded it.
class KeyText {
 public:
  explicit KeyText(const pugi::xml_node& root)
      : encoded_(std::string_view(root.child_value("EncodingType")) == "url") {}
  std::string operator()(const char* text) const { return encoded_ ? UrlDecode(text) : text; }

 private:
  const bool encoded_;
};

/// "2009-10-12T17:50:30.000Z" in ms since the epoch.
int64_t ParseTime(const char* text) {
  std::tm parts{};
  const char* rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return 0;
  int64_t millis = static_cast<int64_t>(timegm(&parts)) * 1000;
  if (*rest == '.') {
    int scale = 100;
    for (++rest; *rest >= '0' && *rest <= '9' && scale > 0; ++rest, scale /= 10) {
      millis += (*rest - '0') * scale;
    }
  }
  return millis;
}

int64_t ParseSize(const char* text) { return ParseInt64(text).value_or(0); }

std::string Unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

struct TextWriter final : pugi::xml_writer {
  std::string text;
  void write(const void* data, size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
};

std::string Written(const pugi::xml_document& document) {
  TextWriter writer;
  document.save(writer, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(writer.text);
}

void AddText(pugi::xml_node parent, const char* name, const std::string& text) {
  parent.append_child(name).append_child(pugi::node_pcdata).set_value(text.c_str());
}

constexpr char kNamespace[] = "http://s3.amazonaws.com/doc/2006-03-01/";

bool IsTrue(const char* text) { return std::string_view(text) == "true"; }

}  // namespace

bool IsErrorDocument(std::string_view body) {
  if (body.find("<Error") == std::string_view::npos) return false;
  pugi::xml_document document;
  return document.load_buffer(body.data(), body.size()) &&
         std::string_view(document.document_element().name()) == "Error";
}

void ParseErrorDocument(std::string_view body, StoreError* error) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) return;
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "Error") return;
  error->code = root.child_value("Code");
  error->message = root.child_value("Message");
  error->request_id = root.child_value("RequestId");
  error->region = root.child_value("Region");
  error->server_time = root.child_value("ServerTime");
}

Result<ListPage> ParseListPage(std::string_view body) {
  pugi::xml_document document;
  SLUICE_ASSIGN_OR_RETURN(const pugi::xml_node root, Load(body, &document, "ListBucketResult"));
  const KeyText key_text(root);
  ListPage page;
  for (const pugi::xml_node object : root.children("Contents")) {
    page.objects.push_back({.key = key_text(object.child_value("Key")),
                            .size_bytes = ParseSize(object.child_value("Size")),
                            .modified_ms = ParseTime(object.child_value("LastModified"))});
  }
  for (const pugi::xml_node prefix : root.children("CommonPrefixes")) {
    page.prefixes.push_back(key_text(prefix.child_value("Prefix")));
  }
  if (IsTrue(root.child_value("IsTruncated"))) {
    page.next_token = root.child_value("NextContinuationToken");
    if (page.next_token.empty()) {
      return Status::Unavailable("A cut listing has no token for its next page.");
    }
  }
  return page;
}

Result<UploadPage> ParseUploadPage(std::string_view body) {
  pugi::xml_document document;
  SLUICE_ASSIGN_OR_RETURN(const pugi::xml_node root,
                          Load(body, &document, "ListMultipartUploadsResult"));
  const KeyText key_text(root);
  UploadPage page;
  for (const pugi::xml_node upload : root.children("Upload")) {
    page.uploads.push_back({key_text(upload.child_value("Key")), upload.child_value("UploadId"),
                            ParseTime(upload.child_value("Initiated"))});
  }
  if (IsTrue(root.child_value("IsTruncated"))) {
    page.next_key = key_text(root.child_value("NextKeyMarker"));
    page.next_upload_id = root.child_value("NextUploadIdMarker");
  }
  return page;
}

Result<PartPage> ParsePartPage(std::string_view body) {
  pugi::xml_document document;
  auto loaded = Load(body, &document, "ListPartsResult");
  // Some stores have another name for it.
  if (!loaded.ok()) loaded = Load(body, &document, "ListPartsResponse");
  SLUICE_ASSIGN_OR_RETURN(const pugi::xml_node root, std::move(loaded));
  PartPage page;
  for (const pugi::xml_node part : root.children("Part")) {
    page.parts.push_back({.number = static_cast<int>(ParseSize(part.child_value("PartNumber"))),
                          .etag = Unquoted(part.child_value("ETag")),
                          .size_bytes = ParseSize(part.child_value("Size"))});
  }
  if (IsTrue(root.child_value("IsTruncated"))) {
    page.next_number = root.child_value("NextPartNumberMarker");
  }
  return page;
}

Result<std::string> ParseElement(std::string_view body, const char* name) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) {
    return Status::Unavailable("The answer is no complete document: " + Printable(body, 80));
  }
  return std::string(document.document_element().child_value(name));
}

Result<std::vector<FailedDelete>> ParseDeleteResult(std::string_view body) {
  pugi::xml_document document;
  SLUICE_ASSIGN_OR_RETURN(const pugi::xml_node root, Load(body, &document, "DeleteResult"));
  std::vector<FailedDelete> failed;
  for (const pugi::xml_node error : root.children("Error")) {
    failed.push_back(
        {error.child_value("Key"), error.child_value("Code"), error.child_value("Message")});
  }
  return failed;
}

std::string CompleteUploadBody(const std::vector<UploadedPart>& parts) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("CompleteMultipartUpload");
  root.append_attribute("xmlns").set_value(kNamespace);
  for (const UploadedPart& part : parts) {
    pugi::xml_node node = root.append_child("Part");
    AddText(node, "PartNumber", std::to_string(part.number));
    AddText(node, "ETag", "\"" + part.etag + "\"");
  }
  return Written(document);
}

std::string DeleteObjectsBody(const std::vector<std::string>& keys) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("Delete");
  root.append_attribute("xmlns").set_value(kNamespace);
  AddText(root, "Quiet", "true");
  for (const std::string& key : keys) AddText(root.append_child("Object"), "Key", key);
  return Written(document);
}

}  // namespace sluice::fs::s3
