import type {LinkData} from './link-shapes.ts';

export type Platform = 'iOS' | 'Android';

/** The device of an app. */
export type Device = {
	/** 8 to 100 characters, constant for an installation. */
	deviceId: string;
	platform?: Platform | undefined;
	osVersion?: string | undefined;
	deviceModel?: string | undefined;
	appVersion?: string | undefined;
	/** Android's version code, which the minimum version of a link is compared with; it is not sent. */
	appVersionCode?: number | undefined;
	/** Default: this client's, `oplink-js/…`. */
	sdkVersion?: string | undefined;
	/** Such as `de-CH`. */
	language?: string | undefined;
	/** IANA name, such as `Europe/Zurich`. */
	timezone?: string | undefined;
};

/** Proof that an install came from a link: read from the clipboard, or from Google's install referrer. */
export type MatchTokens = {
	/** A token, at most 100 characters beginning with `opl_`; or a URL that ends in one (`clipboardFormat: "url"`). */
	clipboardToken?: string | undefined;
	/** At most 100 characters. */
	installReferrer?: string | undefined;
};

/** The data that a first open is matched by; more data makes the answer more certain. */
export type MatchSignals = MatchTokens &
	Partial<Pick<Device, 'deviceId' | 'platform' | 'osVersion' | 'deviceModel' | 'language' | 'timezone'>>;

export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchConfidence = 'exact' | 'high' | 'medium' | 'low';

/** The link that led to the install, and the confidence. Only `exact` is proof; the rest are guesses. */
export type MatchFound = LinkData & {
	matched: true;
	matchMethod: MatchMethod;
	matchConfidence: MatchConfidence;
	/** 0 to 100, only for FINGERPRINT_SCORED. */
	matchScore?: number;
};
export type Match = MatchFound | {matched: false; matchMethod: 'NONE'};

export type Session = {deviceId: string; sessionId: string; isNewDevice: boolean};

/** The user of a device, by the app's own id. */
export type Identity = {deviceId: string; externalUserId: string};

export type EventOptions = {
	/** At most 100 characters. An event with a known id is counted once; generated if omitted. */
	eventId?: string | undefined;
	/** When it happened, if not now. A string is an ISO 8601 date-time. */
	occurredAt?: string | Date | undefined;
	/** The link that caused it, unless that is the device's last match. */
	linkId?: string | undefined;
};
