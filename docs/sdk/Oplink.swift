// Oplink for iOS 15 and later. Copy this file into the app; docs/sdk.md explains it.
import UIKit

/// The target of a link. matchConfidence, of a first open: "exact" is proof, "high", "medium" and "low" are guesses.
struct LinkData: Decodable {
    let linkId: String, path: String, params: [String: String], matchConfidence: String?, minimumVersion: MinimumVersion?
}
struct MinimumVersion: Decodable { let ios: String? }
struct AppLink: Decodable { let url: String }
struct Match: Decodable { let matched: Bool }
struct OplinkError: Error { let status: Int, message: String, requestId: String? }

@MainActor final class Oplink {
    static let sdkVersion = "oplink-swift/1.0.0"
    enum Rule { case resolution, report, hurried, session }
    private let api: URL, key: String, linkHosts: [String], defaults = UserDefaults.standard
    /// linkHosts: hosts of your links, such as "go.acme.example".
    init(api: URL, clientKey: String, linkHosts: [String]) { self.api = api; key = clientKey; self.linkHosts = linkHosts }
    /// Called with the minimum version of a link if the app is older. The link is still returned.
    var onUpdateRequired: ((String) -> Void)?
    /// Receives errors that are not thrown, such as a refused key.
    var log: (String, Error) -> Void = { print("\($0): \($1)") }

    var needsMatch: Bool { !defaults.bool(forKey: "oplink.matched") }
    var deviceId: String {
        if let id = defaults.string(forKey: "oplink.device") { return id }
        let id = UUID().uuidString
        defaults.set(id, forKey: "oplink.device")
        return id
    }
    private var device: [String: Any] {
        var info = utsname(); uname(&info)
        let model = withUnsafeBytes(of: &info.machine) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
        return ["deviceId": deviceId, "platform": "iOS", "osVersion": UIDevice.current.systemVersion, "deviceModel": model,
                "language": Locale.preferredLanguages.first ?? "en", "timezone": TimeZone.current.identifier]
    }

    /// At each start of the app. The next call sends a failed report again.
    func session() async {
        var body = device
        body["appVersion"] = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString")
        body["sdkVersion"] = Oplink.sdkVersion
        do { _ = try await post("sdk/session", body, .session) } catch { log("oplink: no session", error) }
    }

    /// Once per installation, with the text of the clipboard if the user allowed it. nil: no link, or called before.
    func firstOpen(clipboard: String?) async throws -> LinkData? {
        guard needsMatch else { return nil }
        var body = device
        if let text = clipboard, let found = text.range(of: "opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])", options: .regularExpression) {
            body["clipboardToken"] = String(text[found])
        }
        let answer = try await post("match", body, .resolution)
        let isMatched = try JSONDecoder().decode(Match.self, from: answer).matched
        defaults.set(true, forKey: "oplink.matched")
        return isMatched ? try decoded(answer) : nil
    }

    /// For a Universal Link that opened the app. nil, without a request, for an address that is none of your links.
    func resolveUrl(_ link: URL) async throws -> LinkData? {
        guard var parts = URLComponents(url: link, resolvingAgainstBaseURL: false),
              ["http", "https"].contains(parts.scheme?.lowercased() ?? ""), parts.user == nil, [nil, 80, 443].contains(parts.port),
              var host = parts.host?.lowercased() else { return nil }
        if host.hasSuffix(".") { host.removeLast() }
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        let has = { (pattern: String) in path.range(of: pattern, options: [.regularExpression, .caseInsensitive]) != nil }
        guard linkHosts.contains(host), has("^(/[^/\\\\\\s]+)+$"), !has("/(\\.|%2e){1,2}(?=/|$)") else { return nil }
        parts.scheme = "https"
        parts.host = host
        parts.port = nil
        parts.percentEncodedPath = path + "/data"
        // The first value of a repeated name counts, so the link cannot replace the device.
        parts.percentEncodedQuery = (["deviceId=\(deviceId)"] + [parts.percentEncodedQuery].compactMap { $0 }).joined(separator: "&")
        parts.fragment = nil
        return try decoded(try await send(URLRequest(url: parts.url!), .resolution))
    }

    private func decoded(_ answer: Data) throws -> LinkData {
        let link = try JSONDecoder().decode(LinkData.self, from: answer)
        let own = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        if let own = own, own.first?.isNumber == true, let least = link.minimumVersion?.ios, isBelow(own, least) { onUpdateRequired?(least) }
        return link
    }
    /// Part by part: 2.9 is below 2.10, and 2 is 2.0.
    private func isBelow(_ version: String, _ least: String) -> Bool {
        var (own, wanted) = (numbers(version), numbers(least))
        while own.count < wanted.count { own.append(0) }
        while wanted.count < own.count { wanted.append(0) }
        return own.lexicographicallyPrecedes(wanted)
    }
    private func numbers(_ version: String) -> [Int] {
        version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").map { Int($0) ?? 0 }
    }

    func identify(_ user: String, traits: [String: Any]? = nil) async throws {
        var body: [String: Any] = ["deviceId": deviceId, "externalUserId": user]
        body["traits"] = traits
        _ = try await post("sdk/identity", body, .report)
    }
    func clearIdentity() async throws { _ = try await post("sdk/identity/clear", ["deviceId": deviceId], .report) }
    func track(_ name: String, _ properties: [String: Any] = [:], eventId: String = UUID().uuidString,
               linkId: String? = nil) async throws {
        var body: [String: Any] = ["deviceId": deviceId, "eventName": name, "properties": properties, "eventId": eventId,
                                   "occurredAt": ISO8601DateFormatter().string(from: Date())]
        body["linkId"] = linkId
        _ = try await post("sdk/events", body, .report)
    }

    /// A short link of a template that the organization opened to apps. If the request fails: `link`, an existing link such
    /// as https://go.example.com/AbCd/invite, with the params as its query, and stored is false.
    func createLink(template: String, params: [String: String] = [:], title: String? = nil, path: String? = nil,
                    link: URL) async -> (url: URL, stored: Bool) {
        var body: [String: Any] = ["deviceId": deviceId, "template": template, "params": params]
        body["title"] = title
        body["path"] = path
        if params.isEmpty { body["params"] = nil }
        do {
            let made = try JSONDecoder().decode(AppLink.self, from: try await post("sdk/links", body, .hurried))
            if let url = URL(string: made.url) { return (url, true) }
        } catch { log("oplink: the link is not stored", error) }
        var parts = URLComponents(url: link, resolvingAgainstBaseURL: false)!
        parts.fragment = nil
        parts.percentEncodedQuery = parts.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%20")
        let items = (parts.queryItems ?? []).filter { params[$0.name] == nil } + params.map { URLQueryItem(name: $0, value: $1) }
        parts.queryItems = items.isEmpty ? nil : items
        parts.percentEncodedQuery = parts.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        return (parts.url!, false)
    }

    private func post(_ path: String, _ body: [String: Any], _ rule: Rule) async throws -> Data {
        var request = URLRequest(url: api.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(path == "match" ? key : "Bearer \(key)", forHTTPHeaderField: path == "match" ? "X-API-Key" : "Authorization")
        return try await send(request, rule)
    }

    private func send(_ original: URLRequest, _ rule: Rule) async throws -> Data {
        var request = original
        request.timeoutInterval = 10
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        var attempt = 0
        while true {
            var wait = min(0.5 * pow(2, Double(attempt)), 5)
            let isLast = rule == .session || attempt == 2
            do {
                let (data, response) = try await URLSession.shared.data(for: request)
                let answer = response as? HTTPURLResponse, status = answer?.statusCode ?? 0
                let body = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
                if (200..<300).contains(status), body != nil { return data }
                let message = body?["message"] as? String ?? "request failed with status \(status)"
                let again = status == 429 ? rule != .hurried : status >= 500 && rule != .report
                if isLast || !again {
                    let details = status == 400 ? body?["details"] as? [[String: Any]] ?? [] : []
                    let fields = details.compactMap { $0["message"] as? String }.filter { $0 != message }
                    let more = fields.count > 5 ? "; and \(fields.count - 5) more" : ""
                    let named = fields.isEmpty ? message : "\(message): \(fields.prefix(5).joined(separator: "; "))\(more)"
                    let requestId = body?["requestId"] as? String ?? answer?.value(forHTTPHeaderField: "X-Request-Id")
                    throw OplinkError(status: status, message: named, requestId: requestId)
                }
                if status == 429, let found = message.range(of: "(?<=Retry after )[0-9]+", options: .regularExpression) {
                    wait = Double(message[found]) ?? wait
                }
            } catch let error as URLError {
                if isLast || error.code == .cancelled { throw error }
            }
            attempt += 1
            try await Task.sleep(nanoseconds: UInt64(wait * 1_000_000_000))
        }
    }
}
