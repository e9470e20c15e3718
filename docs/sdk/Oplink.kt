// Oplink for Android 8 (API 26) and later. Copy this file into the app; docs/sdk.md explains it.
import android.content.Context
import android.net.Uri
import android.os.Build
import android.util.Log
import com.android.installreferrer.api.InstallReferrerClient
import com.android.installreferrer.api.InstallReferrerStateListener
import java.io.File
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.time.Instant
import java.util.Locale
import java.util.TimeZone
import java.util.UUID
import kotlin.math.min
import kotlin.math.pow
import org.json.JSONObject

const val SDK_VERSION = "oplink-kotlin/1.0.0"

/** The target of a link. matchConfidence, of a first open: "exact" is proof, "high", "medium" and "low" are guesses. */
data class LinkData(val linkId: String, val path: String, val params: Map<String, String>, val matchConfidence: String?)
data class AppLink(val url: Uri, val stored: Boolean)
class OplinkError(val status: Int, message: String, val requestId: String?) : RuntimeException(message)

/** linkHosts: hosts of your links, such as "go.acme.example". */
class Oplink(private val context: Context, private val api: String, private val clientKey: String,
             private val linkHosts: List<String>) {
    private enum class Rule { RESOLUTION, REPORT, HURRIED, SESSION }
    private val deviceFile = File(context.noBackupFilesDir, "oplink-device")
    private val matchedFile = File(context.noBackupFilesDir, "oplink-matched")
    val needsMatch get() = !matchedFile.exists()
    /** Called with the minimum version code of a link if the app is older, on the thread of the request. */
    var onUpdateRequired: ((Int) -> Unit)? = null
    /** Receives errors that are not thrown, such as a refused key. */
    var log: (String, Throwable) -> Unit = { message, error -> Log.w("Oplink", message, error) }
    private val bearer get() = mapOf("Authorization" to "Bearer $clientKey")

    val deviceId: String by lazy {
        if (!deviceFile.exists()) deviceFile.writeText(UUID.randomUUID().toString())
        deviceFile.readText()
    }
    private fun device() = JSONObject().put("deviceId", deviceId).put("platform", "Android")
        .put("osVersion", Build.VERSION.RELEASE).put("deviceModel", Build.MODEL)
        .put("language", Locale.getDefault().toLanguageTag()).put("timezone", TimeZone.getDefault().id)

    /** At each start of the app. The next call sends a failed report again. */
    fun session() {
        val name = context.packageManager.getPackageInfo(context.packageName, 0).versionName
        val body = device().put("appVersion", name).put("sdkVersion", SDK_VERSION)
        runCatching { post("/sdk/session", body, Rule.SESSION, bearer) }.onFailure { log("oplink: no session", it) }
    }

    /** Once per installation. null: no link, or called before. */
    fun firstOpen(referrer: String?): LinkData? {
        if (!needsMatch) return null
        val body = device()
        Regex("opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])").find(referrer.orEmpty())?.let { body.put("installReferrer", it.value) }
        val answer = post("/match", body, Rule.RESOLUTION, mapOf("X-API-Key" to clientKey))
        matchedFile.createNewFile()
        return if (answer.getBoolean("matched")) linkOf(answer) else null
    }

    /** For an App Link that opened the app: intent.data. null, without a request, for an address that is none of your links. */
    fun resolveUrl(link: Uri): LinkData? {
        val path = link.encodedPath.orEmpty().trimEnd('/')
        val host = link.encodedAuthority.orEmpty().removeSuffix(":443").removeSuffix(":80").removeSuffix(".")
        val isWeb = listOf("http", "https").any { it.equals(link.scheme, ignoreCase = true) }
        val isOwn = linkHosts.any { it.equals(host, ignoreCase = true) }
        val isPath = Regex("(?:/[^/\\\\\\s]+)+").matches(path) && !Regex("/(?:\\.|%2[eE]){1,2}(?=/|$)").containsMatchIn(path)
        if (!isWeb || !isOwn || !isPath) return null
        // The first value of a repeated name counts, so the link cannot replace the device.
        val query = listOfNotNull("deviceId=$deviceId", link.encodedQuery).joinToString("&")
        val data = link.buildUpon().scheme("https").encodedAuthority(host).encodedPath("$path/data").encodedQuery(query).fragment(null).build()
        return linkOf(send("GET", data.toString(), null, Rule.RESOLUTION, emptyMap()))
    }

    fun identify(user: String, traits: JSONObject? = null) =
        post("/sdk/identity", ids().put("externalUserId", user).put("traits", traits), Rule.REPORT, bearer)
    fun clearIdentity() = post("/sdk/identity/clear", ids(), Rule.REPORT, bearer)
    fun track(name: String, properties: JSONObject = JSONObject(), eventId: String = UUID.randomUUID().toString(),
              linkId: String? = null) =
        post("/sdk/events", ids().put("eventName", name).put("properties", properties).put("eventId", eventId)
            .put("occurredAt", Instant.now().toString()).put("linkId", linkId), Rule.REPORT, bearer)

    /** A short link of a template that the organization opened to apps. If the request fails: `link`, an existing link such
     * as https://go.example.com/AbCd/invite, with the params as its query, and stored is false. */
    fun createLink(template: String, params: Map<String, String> = emptyMap(), title: String? = null, path: String? = null,
                   link: Uri): AppLink {
        val body = ids().put("template", template).put("title", title).put("path", path)
        if (params.isNotEmpty()) body.put("params", JSONObject(params))
        runCatching { post("/sdk/links", body, Rule.HURRIED, bearer).getString("url") }
            .onFailure { log("oplink: the link is not stored", it) }.onSuccess { return AppLink(Uri.parse(it), true) }
        val query = link.buildUpon().clearQuery().fragment(null)
        for (name in link.queryParameterNames - params.keys) {
            for (value in link.getQueryParameters(name)) query.appendQueryParameter(name, value)
        }
        for ((name, value) in params) query.appendQueryParameter(name, value)
        return AppLink(query.build(), false)
    }

    private fun ids() = JSONObject().put("deviceId", deviceId)
    @Suppress("DEPRECATION")
    private val versionCode get() = context.packageManager.getPackageInfo(context.packageName, 0).versionCode
    private fun linkOf(json: JSONObject): LinkData {
        val least = json.optJSONObject("minimumVersion")?.optInt("android") ?: 0
        if (versionCode < least) onUpdateRequired?.invoke(least)
        val params = json.getJSONObject("params")
        val values = params.keys().asSequence().associateWith { params.getString(it) }
        val confidence = json.optString("matchConfidence").ifEmpty { null }
        return LinkData(json.getString("linkId"), json.getString("path"), values, confidence)
    }
    private fun post(path: String, body: JSONObject, rule: Rule, headers: Map<String, String>) =
        send("POST", api + path, body.toString(), rule, headers)

    private fun send(method: String, url: String, body: String?, rule: Rule, headers: Map<String, String>): JSONObject {
        var attempt = 0
        while (true) {
            var wait = min(0.5 * 2.0.pow(attempt), 5.0)
            val isLast = rule == Rule.SESSION || attempt == 2
            try {
                val connection = URL(url).openConnection() as HttpURLConnection
                connection.requestMethod = method
                connection.connectTimeout = 10_000
                connection.readTimeout = 10_000
                connection.setRequestProperty("Accept", "application/json")
                for ((name, value) in headers) connection.setRequestProperty(name, value)
                if (body != null) {
                    connection.setRequestProperty("Content-Type", "application/json")
                    connection.doOutput = true
                    connection.outputStream.use { it.write(body.toByteArray()) }
                }
                val status = connection.responseCode
                val stream = if (status in 200..299) connection.inputStream else connection.errorStream
                val text = stream?.bufferedReader()?.use { it.readText() }.orEmpty()
                val json = runCatching { JSONObject(text) }.getOrNull()
                if (json != null && status in 200..299) return json
                val message = json?.opt("message") as? String ?: "request failed with status $status"
                val again = if (status == 429) rule != Rule.HURRIED else status >= 500 && rule != Rule.REPORT
                if (isLast || !again) {
                    val details = if (status == 400) json?.optJSONArray("details") else null
                    val fields = (0 until (details?.length() ?: 0)).mapNotNull { details?.optJSONObject(it)?.opt("message") as? String }
                        .filter { it != message }
                    val more = if (fields.size > 5) "; and ${fields.size - 5} more" else ""
                    val named = if (fields.isEmpty()) message else "$message: ${fields.take(5).joinToString("; ")}$more"
                    throw OplinkError(status, named, json?.opt("requestId") as? String ?: connection.getHeaderField("X-Request-Id"))
                }
                if (status == 429) Regex("Retry after (\\d+)").find(message)?.let { wait = it.groupValues[1].toDouble() }
            } catch (failure: IOException) {
                if (isLast) throw failure
            }
            attempt += 1
            Thread.sleep((wait * 1000).toLong())
        }
    }
}

/** The referrer from Google Play; null if Play did not install the app. */
fun installReferrer(context: Context, done: (String?) -> Unit) {
    val client = InstallReferrerClient.newBuilder(context).build()
    client.startConnection(object : InstallReferrerStateListener {
        override fun onInstallReferrerSetupFinished(code: Int) {
            val isOk = code == InstallReferrerClient.InstallReferrerResponse.OK
            done(if (isOk) runCatching { client.installReferrer.installReferrer }.getOrNull() else null)
            client.endConnection()
        }
        override fun onInstallReferrerServiceDisconnected() {}
    })
}
