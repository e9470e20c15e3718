// Oplink for Flutter, in pure Dart 3. Not compiled here: no Dart compiler was at hand. docs/sdk.md explains it.
import 'dart:async';
import 'dart:convert';
import 'dart:math';

const sdkVersion = 'oplink-dart/1.0.0';

/// A request as the app sends it, such as by package:http. If there is no answer, throw.
typedef OplinkSend = Future<OplinkReply> Function(OplinkRequest request);

class OplinkRequest {
  final String method, url;
  final Map<String, String> headers;
  final String? body;
  OplinkRequest(this.method, this.url, this.headers, this.body);
}

/// [requestId]: the header X-Request-Id, if any.
class OplinkReply {
  final int status;
  final String body;
  final String? requestId;
  OplinkReply(this.status, this.body, {this.requestId});
}

/// The app's device. [platform]: iOS or Android. [appVersionCode] (Android) is compared and not sent. Of the texts of
/// clipboard and referrer only the token is sent.
class OplinkDevice {
  final String deviceId;
  final String? platform, osVersion, deviceModel, appVersion, language, timezone, clipboardToken, installReferrer;
  final String sdk;
  final int? appVersionCode;
  OplinkDevice(this.deviceId, {this.platform, this.osVersion, this.deviceModel, this.appVersion, this.appVersionCode,
      this.language, this.timezone, this.clipboardToken, this.installReferrer, this.sdk = sdkVersion});
}

/// The target of a link. [matchConfidence], of a first open: exact is proof, high, medium and low are guesses.
class OplinkLink {
  final String linkId, path;
  final Map<String, String> params;
  final Map<String, dynamic>? minimumVersion;
  final String? matchMethod, matchConfidence;
  OplinkLink.of(Map<String, dynamic> answer)
      : linkId = answer['linkId'] as String,
        path = answer['path'] as String,
        params = Map<String, String>.from(answer['params'] as Map),
        minimumVersion = answer['minimumVersion'] as Map<String, dynamic>?,
        matchMethod = answer['matchMethod'] as String?,
        matchConfidence = answer['matchConfidence'] as String?;
}

/// The server answered with an error. [message] names the invalid fields.
class OplinkApiException implements Exception {
  final int status;
  final String message, body;
  final String? requestId, code;
  final List<dynamic>? details;

  OplinkApiException(OplinkReply reply, Map<String, dynamic>? envelope)
      : status = reply.status,
        body = reply.body,
        requestId = _text(envelope?['requestId']) ?? reply.requestId,
        code = _text(envelope?['code']),
        details = _detailsOf(reply, envelope),
        message = _messageOf(reply, envelope);

  /// Only the message of a 429 contains the wait.
  int? get retryAfterSeconds {
    final wait = status == 429 ? RegExp(r'Retry after (\d+) second').firstMatch(message) : null;
    return wait == null ? null : int.parse(wait.group(1)!);
  }

  static String? _text(Object? value) => value is String ? value : null;

  static List<dynamic>? _detailsOf(OplinkReply reply, Map<String, dynamic>? envelope) {
    final details = reply.status == 400 ? envelope?['details'] : null;
    return details is List ? details : null;
  }

  static String _messageOf(OplinkReply reply, Map<String, dynamic>? envelope) {
    final message = _text(envelope?['message']) ?? 'request failed with status ${reply.status}';
    final faults = [
      for (final fault in _detailsOf(reply, envelope) ?? const [])
        if (fault is Map && fault['message'] is String && fault['message'] != message) fault['message'] as String,
    ];
    if (faults.isEmpty) return message;
    return '$message: ${faults.take(5).join('; ')}${faults.length > 5 ? '; and ${faults.length - 5} more' : ''}';
  }

  @override
  String toString() => 'OplinkApiException($status): $message';
}

/// There was no answer.
class OplinkConnectionException implements Exception {
  final String message;
  final Object cause;
  OplinkConnectionException(this.message, this.cause);
  @override
  String toString() => 'OplinkConnectionException: $message';
}

enum _Rule { resolution, report, hurried, session }

/// A client of an Oplink server. [start] and [session] never throw.
class Oplink {
  final String baseUrl, linkBaseUrl;
  final List<String> linkDomains;
  final String? clientKey;
  final OplinkSend send;
  final double timeoutSeconds;
  final int maxRetries;
  final Future<void> Function(double seconds) sleep;

  /// Storage that survives a restart and not a restored backup.
  final FutureOr<String?> Function(String key)? read;
  final FutureOr<void> Function(String key, String value)? write;
  /// Receives errors that are not thrown, such as a refused key.
  final void Function(String message, Object error) log;

  /// Called with the link that [start] finds, and with the minimum version of a link if the app is older.
  void Function(OplinkLink link)? onLink;
  void Function(String minimumVersion, OplinkLink link)? onUpdateRequired;

  OplinkDevice? _app;
  OplinkLink? _waiting;
  bool _isMatched = false;
  Future<void>? _starting;

  Oplink({required String baseUrl, required this.send, String? linkBaseUrl, this.linkDomains = const [], this.clientKey,
      this.timeoutSeconds = 10, this.maxRetries = 2, this.sleep = _sleep, this.read, this.write, this.log = _print})
      : baseUrl = _withoutSlash(baseUrl),
        linkBaseUrl = _withoutSlash(linkBaseUrl ?? baseUrl);

  static void _print(String message, Object error) => print('$message: $error');
  static Future<void> _sleep(double seconds) => Future.delayed(Duration(milliseconds: (seconds * 1000).round()));
  static String _withoutSlash(String url) => url.replaceFirst(RegExp(r'/+$'), '');

  /// At each start of the app: a session, then once per installation a match, whose link goes to [onLink].
  Future<void> start(OplinkDevice device) async {
    await session(device);
    try {
      await (_starting ??= _firstMatch(device));
    } catch (error) {
      log('oplink: no match', error);
    } finally {
      _starting = null;
    }
  }

  /// Reports a start of the app. One attempt; false after a failure, which is logged.
  Future<bool> session(OplinkDevice device) async {
    try {
      _app = device;
      final waiting = _waiting;
      if (waiting != null) _checkVersion(waiting);
      await _report('/sdk/session', {..._facts(device), 'appVersion': device.appVersion, 'sdkVersion': device.sdk}, _Rule.session);
      return true;
    } catch (error) {
      log('oplink: no session', error);
      return false;
    }
  }

  /// The link that led to this installation; null: none.
  Future<OplinkLink?> match(OplinkDevice device) async {
    final key = clientKey;
    final body = {'clipboardToken': _tokenIn(device.clipboardToken), 'installReferrer': _tokenIn(device.installReferrer), ..._facts(device)};
    final answer = await _call('POST', '$baseUrl/match', body, _Rule.resolution, {if (key != null) 'X-API-Key': key});
    return answer['matched'] == true ? _checked(answer) : null;
  }

  /// For a link by its orgKey and short code. Counts as a click.
  Future<OplinkLink> resolve(String orgKey, String shortCode, {String? deviceId}) async =>
      _data(linkBaseUrl, '/${_segment(orgKey)}/${_segment(shortCode)}', {}, deviceId);

  /// For the address that opened the app. null, without a request: none of your links. Counts as a click.
  Future<OplinkLink?> resolveUrl(String url, {String? deviceId}) async {
    final parts = _partsOf(url);
    if (parts == null) return null;
    for (final address in [linkBaseUrl, for (final name in linkDomains) 'https://$name']) {
      final own = _partsOf(address);
      if (own == null || own.host != parts.host || !parts.path.startsWith('${own.path}/')) continue;
      final path = _withoutSlash(parts.path.substring(own.path.length));
      final isPath = RegExp(r'^(?:/[^/\\\s]+)+$').hasMatch(path) &&
          !RegExp(r'/(?:\.|%2e){1,2}(?=/|$)', caseSensitive: false).hasMatch(path);
      return isPath ? await _data(address, path, _queryOf(parts.query), deviceId) : null;
    }
    return null;
  }

  Future<void> identify(String deviceId, String externalUserId, {Map<String, dynamic>? traits}) =>
      _report('/sdk/identity', {'deviceId': deviceId, 'externalUserId': externalUserId, 'traits': traits}, _Rule.report);

  Future<void> clearIdentity(String deviceId) => _report('/sdk/identity/clear', {'deviceId': deviceId}, _Rule.report);

  /// An event. [eventId]: an event with a known one counts once, so a retry is safe.
  Future<void> track(String deviceId, String eventName,
          {Map<String, dynamic> properties = const {}, String? eventId, DateTime? occurredAt, String? linkId}) =>
      _report('/sdk/events', {
        'deviceId': deviceId,
        'eventName': eventName,
        'properties': properties,
        'eventId': eventId ?? _randomKey(),
        'occurredAt': occurredAt == null ? null : DateTime.fromMillisecondsSinceEpoch(occurredAt.millisecondsSinceEpoch, isUtc: true).toIso8601String(),
        'linkId': linkId,
      }, _Rule.report);

  /// A short link of a template that is open to apps. With [link], an existing one, it never throws: if the request fails,
  /// the answer is that link with the params as its query, and stored is false.
  Future<({String url, bool stored})> createLink(String deviceId, String template,
      {Map<String, String>? params, String? title, String? path, String? link}) async {
    try {
      final body = {'deviceId': deviceId, 'template': template, 'params': params, 'title': title, 'path': path};
      final answer = await _report('/sdk/links', body, link == null ? _Rule.resolution : _Rule.hurried);
      return (url: answer['url'] as String, stored: true);
    } catch (error) {
      if (link == null) rethrow;
      log('oplink: the link is not stored', error);
      final parts = link.split('#').first.split('?');
      final kept = _queryOf(parts.skip(1).join('?'))..removeWhere((name, _) => (params ?? const {}).containsKey(name));
      return (url: parts.first + _queryText({...kept, ...?params}), stored: false);
    }
  }

  Future<void> _firstMatch(OplinkDevice device) async {
    if (_isMatched || await read?.call('oplink.match') != null) return;
    final link = await match(device);
    _isMatched = true;
    if (link != null) onLink?.call(link);
    await write?.call('oplink.match', link?.matchMethod ?? 'NONE');
  }

  Future<OplinkLink> _data(String host, String path, Map<String, String> query, String? deviceId) async {
    query.remove('deviceId');
    final text = _queryText({...query, if (deviceId != null) 'deviceId': deviceId});
    return _checked(await _call('GET', '$host$path/data$text', null, _Rule.resolution, {}));
  }

  Map<String, dynamic> _facts(OplinkDevice device) => {
        'deviceId': device.deviceId, 'platform': device.platform, 'osVersion': device.osVersion,
        'deviceModel': device.deviceModel, 'language': device.language, 'timezone': device.timezone,
      };

  Future<Map<String, dynamic>> _report(String path, Map<String, dynamic> body, _Rule rule) =>
      _call('POST', '$baseUrl$path', body, rule, {if (clientKey != null) 'Authorization': 'Bearer $clientKey'});

  Future<Map<String, dynamic>> _call(String method, String url, Map<String, dynamic>? body, _Rule rule, Map<String, String> headers) async {
    headers['Accept'] = 'application/json';
    if (body != null) headers['Content-Type'] = 'application/json';
    final text = body == null ? null : jsonEncode({...body}..removeWhere((_, value) => value == null));
    for (var attempt = 0; ; attempt += 1) {
      try {
        return await _attempt(OplinkRequest(method, url, headers, text));
      } catch (error) {
        final wait = attempt < maxRetries ? _waitAfter(error, attempt, rule) : null;
        if (wait == null) rethrow;
        await sleep(wait);
      }
    }
  }

  Future<Map<String, dynamic>> _attempt(OplinkRequest request) async {
    final OplinkReply reply;
    try {
      reply = await send(request).timeout(Duration(milliseconds: (timeoutSeconds * 1000).round()));
    } catch (cause) {
      throw OplinkConnectionException('${request.method} ${request.url} got no answer: $cause', cause);
    }
    Object? parsed;
    try {
      parsed = jsonDecode(reply.body);
    } on FormatException {
      parsed = null;
    }
    final envelope = parsed is Map<String, dynamic> ? parsed : null;
    if (reply.status < 200 || reply.status > 299 || envelope == null) throw OplinkApiException(reply, envelope);
    return envelope;
  }

  /// Seconds until the next attempt; null: a retry is useless, or may count twice.
  static double? _waitAfter(Object error, int attempt, _Rule rule) {
    final backoff = min(0.5 * pow(2, attempt), 5.0).toDouble();
    if (rule == _Rule.session) return null;
    if (error is OplinkConnectionException) return backoff;
    if (error is! OplinkApiException) return null;
    if (error.status == 429) return rule == _Rule.hurried ? null : error.retryAfterSeconds?.toDouble() ?? backoff;
    return error.status >= 500 && rule != _Rule.report ? backoff : null;
  }

  OplinkLink _checked(Map<String, dynamic> answer) {
    final link = OplinkLink.of(answer);
    _checkVersion(link);
    return link;
  }

  /// Compares once the app's version is known, by the last session.
  void _checkVersion(OplinkLink link) {
    final app = _app;
    _waiting = app == null ? link : null;
    final ios = link.minimumVersion?['ios'], android = link.minimumVersion?['android'];
    if (app?.platform == 'iOS' && ios is String && RegExp(r'^\d').hasMatch(app!.appVersion ?? '') && _isBelow(app.appVersion!, ios)) {
      onUpdateRequired?.call(ios, link);
    } else if (app?.platform == 'Android' && android is num && app!.appVersionCode != null && app.appVersionCode! < android) {
      onUpdateRequired?.call('$android', link);
    }
  }

  /// Part by part: 2.9 is below 2.10, and 2 is 2.0.
  static bool _isBelow(String version, String least) {
    List<int> numbers(String text) =>
        [for (final part in (RegExp(r'^\d+(?:\.\d+)*').stringMatch(text) ?? '').split('.')) int.tryParse(part) ?? 0];
    final own = numbers(version), wanted = numbers(least);
    for (var at = 0; at < wanted.length; at += 1) {
      final part = at < own.length ? own[at] : 0;
      if (part != wanted[at]) return part < wanted[at];
    }
    return false;
  }

  /// The token in a text; other contents of the clipboard are private.
  static String? _tokenIn(String? text) => RegExp(r'opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])').stringMatch(text ?? '');

  static String _segment(String value) {
    if (RegExp(r'^\.{0,2}$').hasMatch(value)) throw ArgumentError.value(value, 'orgKey or shortCode');
    return Uri.encodeComponent(value);
  }

  static ({String host, String path, String query})? _partsOf(String url) {
    final found = RegExp(r'^https?://([^/?#]+)([^?#]*)(?:\?([^#]*))?', caseSensitive: false).firstMatch(url);
    if (found == null) return null;
    final host = found.group(1)!.toLowerCase().replaceFirst(RegExp(r':(?:80|443)$'), '').replaceFirst(RegExp(r'\.$'), '');
    return (host: host, path: found.group(2)!, query: found.group(3) ?? '');
  }

  /// The first value of each name, as on the server.
  static Map<String, String> _queryOf(String query) {
    final values = <String, String>{};
    for (final pair in query.split('&').where((one) => one != '')) {
      final at = pair.indexOf('=');
      values.putIfAbsent(_decode(at < 0 ? pair : pair.substring(0, at)), () => at < 0 ? '' : _decode(pair.substring(at + 1)));
    }
    return values;
  }

  static String _queryText(Map<String, String> query) => query.isEmpty
      ? ''
      : '?${query.entries.map((pair) => '${Uri.encodeComponent(pair.key)}=${Uri.encodeComponent(pair.value)}').join('&')}';

  /// A malformed escape leaves the text as it is. Dart decodes ASCII alone, so other letters are encoded before.
  static String _decode(String text) {
    try {
      final plain = text.replaceAll('+', ' ').replaceAllMapped(RegExp(r'[^\x00-\x7F]+'), (found) => Uri.encodeComponent(found.group(0)!));
      return Uri.decodeComponent(plain);
    } on ArgumentError {
      return text;
    } on FormatException {
      return text;
    }
  }

  static String _randomKey() {
    final random = Random.secure();
    return [for (var at = 0; at < 32; at += 1) random.nextInt(16).toRadixString(16)].join();
  }
}
