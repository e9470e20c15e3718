// Oplink for .NET: Unity, MAUI, and anything with C# 7. Copy this file into the app; docs/sdk.md explains it.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

/// <summary>A request as the app sends it by UnityWebRequest or HttpClient.</summary>
public sealed class OplinkRequest
{
    public string Method, Url, Body;
    public Dictionary<string, string> Headers;
}

/// <summary>An answer. RequestId: the header X-Request-Id, if any. If there is no answer, throw.</summary>
public sealed class OplinkReply
{
    public int Status;
    public string Body, RequestId;
}

public sealed class OplinkOptions
{
    /// <summary>The API host, such as https://api.example.com, and the host of links, if it is another one.</summary>
    public string BaseUrl, LinkBaseUrl;
    /// <summary>Further hosts of your links, such as go.acme.example.</summary>
    public string[] LinkDomains = new string[0];
    /// <summary>opl_sdk_…</summary>
    public string ClientKey;
    public double TimeoutSeconds = 10;
    public int MaxRetries = 2;
    public Func<OplinkRequest, Task<OplinkReply>> Send;
    public Func<double, Task> Sleep = seconds => Task.Delay(TimeSpan.FromSeconds(seconds));
    /// <summary>Storage that survives a restart and not a restored backup: whether this installation was matched.</summary>
    public Func<string, string> Read;
    public Action<string, string> Write;
    /// <summary>Receives errors that are not thrown, such as a refused key. Unity: Debug.LogWarning.</summary>
    public Action<string, Exception> Log = (message, error) => Console.Error.WriteLine(message + ": " + error.Message);
}

/// <summary>The app's device. Platform: iOS or Android. AppVersionCode (Android) is compared and not sent.</summary>
public sealed class OplinkDevice
{
    public string DeviceId, Platform, OsVersion, DeviceModel, AppVersion, SdkVersion, Language, Timezone;
    public int? AppVersionCode;
    /// <summary>The whole texts of the clipboard and of the install referrer; only the token in them is sent.</summary>
    public string ClipboardToken, InstallReferrer;
}

/// <summary>The target of a link. MatchConfidence, of a first open: exact is proof, high, medium and low are guesses.</summary>
public sealed class OplinkLink
{
    public string LinkId, Path, MatchMethod, MatchConfidence;
    public Dictionary<string, string> Params = new Dictionary<string, string>();
    public Dictionary<string, object> MinimumVersion;
}

public sealed class OplinkAppLink
{
    public string Url;
    public bool Stored;
}

/// <summary>The server answered with an error. Its message names the invalid fields.</summary>
public sealed class OplinkApiException : Exception
{
    public readonly int Status;
    public readonly string RequestId, Body, Code;
    public readonly int? RetryAfterSeconds;
    public readonly List<object> Details;

    internal OplinkApiException(OplinkReply reply, Dictionary<string, object> envelope)
        : base(MessageOf(reply, envelope))
    {
        Status = reply.Status;
        Body = reply.Body;
        RequestId = OplinkJson.Text(envelope, "requestId") ?? reply.RequestId;
        Code = OplinkJson.Text(envelope, "code");
        Details = DetailsOf(reply, envelope);
        // Only the message contains the wait.
        var wait = Regex.Match(Message, @"Retry after (\d+) second");
        if (Status == 429 && wait.Success) RetryAfterSeconds = int.Parse(wait.Groups[1].Value, CultureInfo.InvariantCulture);
    }

    static List<object> DetailsOf(OplinkReply reply, Dictionary<string, object> envelope)
    {
        object details = null;
        if (reply.Status == 400 && envelope != null) envelope.TryGetValue("details", out details);
        return details as List<object>;
    }

    static string MessageOf(OplinkReply reply, Dictionary<string, object> envelope)
    {
        var message = OplinkJson.Text(envelope, "message") ?? "request failed with status " + reply.Status;
        var faults = (DetailsOf(reply, envelope) ?? new List<object>())
            .Select(fault => OplinkJson.Text(fault as Dictionary<string, object>, "message"))
            .Where(fault => fault != null && fault != message).ToList();
        if (faults.Count == 0) return message;
        var rest = faults.Count > 5 ? "; and " + (faults.Count - 5) + " more" : "";
        return message + ": " + string.Join("; ", faults.Take(5)) + rest;
    }
}

/// <summary>There was no answer: no connection, or none in time. InnerException is the cause.</summary>
public sealed class OplinkConnectionException : Exception
{
    internal OplinkConnectionException(string message, Exception cause) : base(message, cause) { }
}

/// <summary>A client of an Oplink server. StartAsync and SessionAsync never throw.</summary>
public sealed class Oplink
{
    public const string SdkVersion = "oplink-csharp/1.0.0";

    /// <summary>Called with the link that StartAsync finds.</summary>
    public Action<OplinkLink> OnLink;
    /// <summary>Called with the minimum version of a link if the app is older. The link is handed over all the same.</summary>
    public Action<string, OplinkLink> OnUpdateRequired;

    enum Rule { Resolution, Report, Hurried, Session }

    readonly OplinkOptions options;
    readonly string baseUrl, linkBaseUrl;
    OplinkDevice app;
    OplinkLink waiting;
    bool isMatched;
    Task starting;

    public Oplink(OplinkOptions options)
    {
        if (options == null || string.IsNullOrEmpty(options.BaseUrl))
            throw new ArgumentException("oplink: BaseUrl is missing: new Oplink(new OplinkOptions {BaseUrl = \"https://api.example.com\", …})");
        if (options.Send == null)
            throw new ArgumentException("oplink: Send is missing: a function that sends a request (docs/sdk.md)");
        this.options = options;
        baseUrl = options.BaseUrl.TrimEnd('/');
        linkBaseUrl = (options.LinkBaseUrl ?? options.BaseUrl).TrimEnd('/');
    }

    /// <summary>At each start of the app: a session, then once per installation a match, whose link goes to OnLink.</summary>
    public async Task StartAsync(OplinkDevice device)
    {
        await SessionAsync(device);
        if (starting == null) starting = FirstMatch(device);
        try { await starting; }
        catch (Exception error) { options.Log("oplink: no match", error); }
        finally { starting = null; }
    }

    /// <summary>Reports a start of the app. One attempt; false after a failure, which is logged.</summary>
    public async Task<bool> SessionAsync(OplinkDevice device)
    {
        try
        {
            var body = Fields("deviceId", device.DeviceId, "platform", device.Platform, "osVersion", device.OsVersion,
                "deviceModel", device.DeviceModel, "appVersion", device.AppVersion, "sdkVersion", device.SdkVersion ?? SdkVersion,
                "language", device.Language, "timezone", device.Timezone);
            app = device;
            if (waiting != null) CheckVersion(waiting);
            await Report("/sdk/session", body, Rule.Session);
            return true;
        }
        catch (Exception error)
        {
            options.Log("oplink: no session", error);
            return false;
        }
    }

    /// <summary>The link that led to this installation; null: none. Only the tokens in the texts are sent.</summary>
    public async Task<OplinkLink> MatchAsync(OplinkDevice device)
    {
        var body = Fields("clipboardToken", TokenIn(device.ClipboardToken), "installReferrer", TokenIn(device.InstallReferrer),
            "deviceId", device.DeviceId, "platform", device.Platform, "osVersion", device.OsVersion,
            "deviceModel", device.DeviceModel, "language", device.Language, "timezone", device.Timezone);
        var headers = new Dictionary<string, string>();
        if (options.ClientKey != null) headers["X-API-Key"] = options.ClientKey;
        var answer = await Call("POST", baseUrl + "/match", body, Rule.Resolution, headers);
        if (!Equals(answer["matched"], true)) return null;
        var link = LinkOf(answer);
        CheckVersion(link);
        return link;
    }

    /// <summary>For a link by its orgKey and short code. Counts as a click.</summary>
    public Task<OplinkLink> ResolveAsync(string orgKey, string shortCode, string deviceId = null)
    {
        var path = "/" + Segment(orgKey, "orgKey") + "/" + Segment(shortCode, "shortCode");
        return Data(linkBaseUrl, path, new List<KeyValuePair<string, string>>(), deviceId);
    }

    /// <summary>For the address that opened the app. null, without a request: none of your links. Counts as a click.</summary>
    public async Task<OplinkLink> ResolveUrlAsync(string url, string deviceId = null)
    {
        var parts = PartsOf(url);
        if (parts == null) return null;
        var hosts = new[] { linkBaseUrl }.Concat(options.LinkDomains.Select(name => "https://" + name));
        foreach (var address in hosts)
        {
            var own = PartsOf(address);
            if (own == null || own[0] != parts[0] || !parts[1].StartsWith(own[1] + "/", StringComparison.Ordinal)) continue;
            var path = parts[1].Substring(own[1].Length).TrimEnd('/');
            var isPath = Regex.IsMatch(path, @"^(?:/[^/\\\s]+)+$") && !Regex.IsMatch(path, @"/(?:\.|%2e){1,2}(?=/|$)", RegexOptions.IgnoreCase);
            return isPath ? await Data(address, path, QueryOf(parts[2]), deviceId) : null;
        }
        return null;
    }

    public Task IdentifyAsync(string deviceId, string externalUserId, Dictionary<string, object> traits = null) =>
        Report("/sdk/identity", Fields("deviceId", deviceId, "externalUserId", externalUserId, "traits", traits), Rule.Report);

    public Task ClearIdentityAsync(string deviceId) =>
        Report("/sdk/identity/clear", Fields("deviceId", deviceId), Rule.Report);

    /// <summary>An event. eventId: an event with a known one counts once, so a retry is safe.</summary>
    public Task TrackAsync(string deviceId, string eventName, Dictionary<string, object> properties = null,
        string eventId = null, DateTime? occurredAt = null, string linkId = null) =>
        Report("/sdk/events", Fields("deviceId", deviceId, "eventName", eventName,
            "properties", properties ?? new Dictionary<string, object>(), "eventId", eventId ?? Guid.NewGuid().ToString(),
            "occurredAt", occurredAt == null ? null : occurredAt.Value.ToUniversalTime().ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture),
            "linkId", linkId), Rule.Report);

    /// <summary>A short link of a template that is open to apps. With `link`, an existing one, it never throws: if the request
    /// fails, the answer is that link with the params as its query, and Stored is false.</summary>
    public async Task<OplinkAppLink> CreateLinkAsync(string deviceId, string template, Dictionary<string, string> @params = null,
        string title = null, string path = null, string link = null)
    {
        try
        {
            var values = @params == null ? null : @params.ToDictionary(pair => pair.Key, pair => (object)pair.Value);
            var body = Fields("deviceId", deviceId, "template", template, "params", values, "title", title, "path", path);
            var answer = await Report("/sdk/links", body, link == null ? Rule.Resolution : Rule.Hurried);
            return new OplinkAppLink { Url = OplinkJson.Text(answer, "url"), Stored = true };
        }
        catch (Exception error)
        {
            if (link == null) throw;
            options.Log("oplink: the link is not stored", error);
            return new OplinkAppLink { Url = WithParams(link, @params ?? new Dictionary<string, string>()), Stored = false };
        }
    }

    async Task FirstMatch(OplinkDevice device)
    {
        if (isMatched || (options.Read != null && options.Read("oplink.match") != null)) return;
        var link = await MatchAsync(device);
        isMatched = true;
        if (link != null && OnLink != null) OnLink(link);
        if (options.Write != null) options.Write("oplink.match", link == null ? "NONE" : link.MatchMethod);
    }

    async Task<OplinkLink> Data(string host, string path, List<KeyValuePair<string, string>> query, string deviceId)
    {
        var own = query.Where(pair => pair.Key != "deviceId").ToList();
        if (deviceId != null) own.Add(new KeyValuePair<string, string>("deviceId", deviceId));
        var answer = await Call("GET", host + path + "/data" + QueryText(own), null, Rule.Resolution, new Dictionary<string, string>());
        var link = LinkOf(answer);
        CheckVersion(link);
        return link;
    }

    Task<Dictionary<string, object>> Report(string path, Dictionary<string, object> body, Rule rule)
    {
        var headers = new Dictionary<string, string>();
        if (options.ClientKey != null) headers["Authorization"] = "Bearer " + options.ClientKey;
        return Call("POST", baseUrl + path, body, rule, headers);
    }

    async Task<Dictionary<string, object>> Call(string method, string url, Dictionary<string, object> body, Rule rule, Dictionary<string, string> headers)
    {
        headers["Accept"] = "application/json";
        if (body != null) headers["Content-Type"] = "application/json";
        for (var attempt = 0; ; attempt++)
        {
            double? wait;
            try
            {
                var request = new OplinkRequest { Method = method, Url = url, Headers = headers, Body = body == null ? null : OplinkJson.Write(body) };
                return await Attempt(request);
            }
            catch (Exception error)
            {
                wait = attempt < options.MaxRetries ? WaitAfter(error, attempt, rule) : null;
                if (wait == null) throw;
            }
            await options.Sleep(wait.Value);
        }
    }

    async Task<Dictionary<string, object>> Attempt(OplinkRequest request)
    {
        OplinkReply reply;
        try
        {
            var sending = options.Send(request);
            var limit = Task.Delay(TimeSpan.FromSeconds(options.TimeoutSeconds));
            if (await Task.WhenAny(sending, limit) == limit) throw new TimeoutException("no answer within " + options.TimeoutSeconds + " s");
            reply = await sending;
        }
        catch (Exception cause)
        {
            throw new OplinkConnectionException(request.Method + " " + request.Url + " got no answer: " + cause.Message, cause);
        }
        var parsed = OplinkJson.Read(reply.Body) as Dictionary<string, object>;
        if (reply.Status < 200 || reply.Status > 299 || parsed == null) throw new OplinkApiException(reply, parsed);
        return parsed;
    }

    /// Seconds until the next attempt; null: a retry is useless, or may count twice.
    static double? WaitAfter(Exception error, int attempt, Rule rule)
    {
        var backoff = Math.Min(0.5 * Math.Pow(2, attempt), 5);
        var refusal = error as OplinkApiException;
        if (rule == Rule.Session) return null;
        if (refusal == null) return error is OplinkConnectionException ? backoff : (double?)null;
        if (refusal.Status == 429) return rule == Rule.Hurried ? (double?)null : refusal.RetryAfterSeconds ?? backoff;
        return refusal.Status >= 500 && rule != Rule.Report ? backoff : (double?)null;
    }

    static OplinkLink LinkOf(Dictionary<string, object> answer)
    {
        object values, least;
        answer.TryGetValue("params", out values);
        answer.TryGetValue("minimumVersion", out least);
        var link = new OplinkLink
        {
            LinkId = OplinkJson.Text(answer, "linkId"), Path = OplinkJson.Text(answer, "path"),
            MatchMethod = OplinkJson.Text(answer, "matchMethod"), MatchConfidence = OplinkJson.Text(answer, "matchConfidence"),
            MinimumVersion = least as Dictionary<string, object>,
        };
        foreach (var pair in (values as Dictionary<string, object>) ?? new Dictionary<string, object>()) link.Params[pair.Key] = pair.Value as string;
        return link;
    }

    /// Compares once the app's version is known, by the last session.
    void CheckVersion(OplinkLink link)
    {
        waiting = app == null ? link : null;
        if (app == null || link.MinimumVersion == null) return;
        object ios, android;
        link.MinimumVersion.TryGetValue("ios", out ios);
        link.MinimumVersion.TryGetValue("android", out android);
        string unmet = null;
        if (app.Platform == "iOS" && ios is string && Regex.IsMatch(app.AppVersion ?? "", "^[0-9]") && IsBelow(app.AppVersion, (string)ios)) unmet = (string)ios;
        if (app.Platform == "Android" && android is double && app.AppVersionCode != null && app.AppVersionCode < (double)android)
            unmet = ((double)android).ToString("R", CultureInfo.InvariantCulture);
        if (unmet != null && OnUpdateRequired != null) OnUpdateRequired(unmet, link);
    }

    /// Part by part: 2.9 is below 2.10, and 2 is 2.0.
    static bool IsBelow(string version, string least)
    {
        var own = Numbers(version);
        var wanted = Numbers(least);
        for (var at = 0; at < wanted.Length; at++)
        {
            var part = at < own.Length ? own[at] : 0;
            if (part != wanted[at]) return part < wanted[at];
        }
        return false;
    }

    static double[] Numbers(string version) => Regex.Match(version, @"^[0-9]+(?:\.[0-9]+)*").Value.Split('.')
        .Select(part => part == "" ? 0 : double.Parse(part, CultureInfo.InvariantCulture)).ToArray();

    /// The token in a text; other contents of the clipboard are private.
    static string TokenIn(string text)
    {
        var found = Regex.Match(text ?? "", "opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])");
        return found.Success ? found.Value : null;
    }

    static Dictionary<string, object> Fields(params object[] pairs)
    {
        var fields = new Dictionary<string, object>();
        for (var at = 0; at < pairs.Length; at += 2) if (pairs[at + 1] != null) fields[(string)pairs[at]] = pairs[at + 1];
        return fields;
    }

    static string Segment(string value, string name)
    {
        if (Regex.IsMatch(value, @"^\.{0,2}$")) throw new ArgumentException(name + " must not be '" + value + "'");
        return Encode(value);
    }

    /// Host, path and query; null: not a web address.
    static string[] PartsOf(string url)
    {
        var found = Regex.Match(url ?? "", @"^https?://([^/?#]+)([^?#]*)(?:\?([^#]*))?", RegexOptions.IgnoreCase);
        if (!found.Success) return null;
        var host = Regex.Replace(Regex.Replace(found.Groups[1].Value.ToLowerInvariant(), ":(?:80|443)$", ""), @"\.$", "");
        return new[] { host, found.Groups[2].Value, found.Groups[3].Value };
    }

    /// The first value of each name, as on the server.
    static List<KeyValuePair<string, string>> QueryOf(string query)
    {
        var values = new List<KeyValuePair<string, string>>();
        foreach (var pair in query.Split('&').Where(one => one != ""))
        {
            var at = pair.IndexOf('=');
            var name = Decode(at < 0 ? pair : pair.Substring(0, at));
            if (values.All(known => known.Key != name)) values.Add(new KeyValuePair<string, string>(name, at < 0 ? "" : Decode(pair.Substring(at + 1))));
        }
        return values;
    }

    static string WithParams(string url, Dictionary<string, string> values)
    {
        var parts = url.Split('#')[0].Split(new[] { '?' }, 2);
        var kept = QueryOf(parts.Length > 1 ? parts[1] : "").Where(pair => !values.ContainsKey(pair.Key));
        return parts[0] + QueryText(kept.Concat(values).ToList());
    }

    static string QueryText(List<KeyValuePair<string, string>> query) =>
        query.Count == 0 ? "" : "?" + string.Join("&", query.Select(pair => Encode(pair.Key) + "=" + Encode(pair.Value)));

    /// As encodeURIComponent of JavaScript, whatever the version of .NET.
    static string Encode(string text)
    {
        var encoded = new StringBuilder();
        foreach (var one in Encoding.UTF8.GetBytes(text))
        {
            var isPlain = one < 128 && (char.IsLetterOrDigit((char)one) || "-_.!~*'()".IndexOf((char)one) >= 0);
            encoded.Append(isPlain ? ((char)one).ToString() : "%" + one.ToString("X2", CultureInfo.InvariantCulture));
        }
        return encoded.ToString();
    }

    /// A malformed escape leaves the text as it is.
    static string Decode(string text)
    {
        try
        {
            var plain = text.Replace('+', ' ');
            if (Regex.IsMatch(plain, "%(?![0-9A-Fa-f]{2})")) return text;
            var bytes = new List<byte>();
            for (var at = 0; at < plain.Length; at++)
            {
                if (plain[at] != '%')
                {
                    var length = char.IsSurrogatePair(plain, at) ? 2 : 1;
                    bytes.AddRange(Encoding.UTF8.GetBytes(plain.Substring(at, length)));
                    at += length - 1;
                    continue;
                }
                bytes.Add(byte.Parse(plain.Substring(at + 1, 2), NumberStyles.HexNumber, CultureInfo.InvariantCulture));
                at += 2;
            }
            return new UTF8Encoding(false, true).GetString(bytes.ToArray());
        }
        catch (ArgumentException) { return text; }
    }
}

/// <summary>The little JSON that the client needs, because Unity has no reader for any shape.</summary>
public static class OplinkJson
{
    public static string Text(Dictionary<string, object> from, string name)
    {
        object value = null;
        if (from != null) from.TryGetValue(name, out value);
        return value as string;
    }

    public static string Write(object value)
    {
        if (value == null) return "null";
        if (value is string) return Quoted((string)value);
        if (value is bool) return (bool)value ? "true" : "false";
        var map = value as IDictionary<string, object>;
        if (map != null) return "{" + string.Join(",", map.Select(pair => Quoted(pair.Key) + ":" + Write(pair.Value))) + "}";
        var list = value as System.Collections.IEnumerable;
        if (list != null) return "[" + string.Join(",", list.Cast<object>().Select(Write)) + "]";
        if (value is double) return ((double)value).ToString("R", CultureInfo.InvariantCulture);
        return Convert.ToString(value, CultureInfo.InvariantCulture);
    }

    static string Quoted(string text)
    {
        var quoted = new StringBuilder("\"");
        foreach (var one in text)
        {
            if (one == '"' || one == '\\') quoted.Append('\\').Append(one);
            else if (one < ' ') quoted.Append("\\u").Append(((int)one).ToString("x4", CultureInfo.InvariantCulture));
            else quoted.Append(one);
        }
        return quoted.Append('"').ToString();
    }

    /// <summary>Objects as Dictionary, arrays as List, numbers as double. null for a text that is not JSON.</summary>
    public static object Read(string text)
    {
        try
        {
            var reader = new Reader { Text = text ?? "" };
            var value = reader.Value(0);
            reader.Blank();
            return reader.At == reader.Text.Length ? value : null;
        }
        catch (FormatException) { return null; }
    }

    sealed class Reader
    {
        public string Text;
        public int At;

        public void Blank()
        {
            while (At < Text.Length && " \t\r\n".IndexOf(Text[At]) >= 0) At++;
        }

        bool Takes(string word)
        {
            Blank();
            if (string.CompareOrdinal(Text, At, word, 0, word.Length) != 0) return false;
            At += word.Length;
            return true;
        }

        void Need(string word)
        {
            if (!Takes(word)) throw new FormatException();
        }

        public object Value(int depth)
        {
            if (depth > 100) throw new FormatException();
            if (Takes("{")) return Map(depth);
            if (Takes("[")) return List(depth);
            if (Takes("true")) return true;
            if (Takes("false")) return false;
            if (Takes("null")) return null;
            if (At < Text.Length && Text[At] == '"') return String();
            var number = new Regex(@"\G-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?").Match(Text, At);
            if (!number.Success) throw new FormatException();
            At += number.Length;
            return double.Parse(number.Value, NumberStyles.Float, CultureInfo.InvariantCulture);
        }

        object Map(int depth)
        {
            var map = new Dictionary<string, object>();
            if (Takes("}")) return map;
            do
            {
                Blank();
                var name = String();
                Need(":");
                map[name] = Value(depth + 1);
            }
            while (Takes(","));
            Need("}");
            return map;
        }

        object List(int depth)
        {
            var list = new List<object>();
            if (Takes("]")) return list;
            do list.Add(Value(depth + 1));
            while (Takes(","));
            Need("]");
            return list;
        }

        string String()
        {
            if (At >= Text.Length || Text[At] != '"') throw new FormatException();
            var read = new StringBuilder();
            for (At++; At < Text.Length && Text[At] != '"'; At++)
            {
                if (Text[At] < ' ') throw new FormatException();
                if (Text[At] != '\\')
                {
                    read.Append(Text[At]);
                    continue;
                }
                At++;
                if (At >= Text.Length) throw new FormatException();
                var plain = "\"\\/bfnrt".IndexOf(Text[At]);
                if (plain >= 0) read.Append("\"\\/\b\f\n\r\t"[plain]);
                else if (Text[At] == 'u' && At + 4 < Text.Length)
                {
                    read.Append((char)ushort.Parse(Text.Substring(At + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture));
                    At += 4;
                }
                else throw new FormatException();
            }
            if (At >= Text.Length) throw new FormatException();
            At++;
            return read.ToString();
        }
    }
}
