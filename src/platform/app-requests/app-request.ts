/** The requests of apps that are counted: `sdk` is the version of the SDK of a session. */
export const appCounts = [
	'session',
	'sdk',
	'data',
	'data_not_found',
	'event',
	'unknown_device',
	'wrong_key',
	'foreign_key',
	'limit',
] as const;
export type AppCount = (typeof appCounts)[number];

/** A request of an app, or for one. */
export type AppRequest = {
	/** By id or orgKey; null: the association file of all organizations. */
	organization: {id: string} | {orgKey: string} | null;
	/** The counts that it adds to, with the version or the limit if there is one; `fetched` is for association files. */
	counts: ReadonlyArray<readonly [kind: AppCount | 'fetched', detail?: string | null | undefined]>;
	/** As the request names it (default: the platform of the device, else of the User-Agent). */
	platform?: string | null | undefined;
	deviceId?: string | null | undefined;
	userAgent?: string | undefined;
	/** The line for `oplink app status --watch`; absent if there is none, or if a stored row provides it. */
	live?: {
		type: 'session' | 'data' | 'refusal';
		appVersion?: string | null | undefined;
		sdkVersion?: string | null | undefined;
		text: string;
	};
};

/** The platform of an app by its User-Agent; those of HTTP libraries name the system at least. */
export const platformOfAgent = (userAgent = ''): 'ios' | 'android' | null => {
	if (/\b(?:Android|Dalvik|okhttp)\b/i.test(userAgent)) {
		return 'android';
	}

	return /\b(?:iPhone|iPad|iPod|iOS|CFNetwork|Darwin)\b/.test(userAgent) ? 'ios' : null;
};
