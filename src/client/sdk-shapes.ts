import type {LinkData} from './link-shapes.ts';

export type Platform = 'iOS' | 'Android';

/** The device that an app runs on. */
export type Device = {
	/** 8 to 100 characters, the same for as long as the app is installed. */
	deviceId: string;
	platform?: Platform | undefined;
	osVersion?: string | undefined;
	deviceModel?: string | undefined;
	appVersion?: string | undefined;
	sdkVersion?: string | undefined;
	/** Such as `de-CH`. */
	language?: string | undefined;
	/** IANA name, such as `Europe/Zurich`. */
	timezone?: string | undefined;
};

/** The proofs that an install came by a link: read from the clipboard, or from Google's install referrer. */
export type MatchTokens = {
	/** At most 100 characters, beginning with `opl_`. */
	clipboardToken?: string | undefined;
	/** At most 100 characters. */
	installReferrer?: string | undefined;
};

/** What a first open is matched by; the more of it, the surer the answer. */
export type MatchSignals = MatchTokens &
	Partial<Pick<Device, 'deviceId' | 'platform' | 'osVersion' | 'deviceModel' | 'language' | 'timezone'>>;

export type MatchMethod = 'CLIPBOARD' | 'INSTALL_REFERRER' | 'FINGERPRINT_EXACT' | 'FINGERPRINT_SCORED' | 'IP_FUZZY';
export type MatchConfidence = 'exact' | 'high' | 'medium' | 'low';

/** The link that led to the install, and how sure that is. Only `exact` is proof; the rest are guesses. */
export type MatchFound = LinkData & {
	matched: true;
	matchMethod: MatchMethod;
	matchConfidence: MatchConfidence;
	/** 0 to 100, of FINGERPRINT_SCORED alone. */
	matchScore?: number;
};
export type Match = MatchFound | {matched: false; matchMethod: 'NONE'};

export type Session = {deviceId: string; sessionId: string; isNewDevice: boolean};

/** Who uses a device, by the app's own id of them. */
export type Identity = {deviceId: string; externalUserId: string};

export type EventOptions = {
	/** At most 100 characters. An event with a known id is counted once; generated where it is left out. */
	eventId?: string | undefined;
	/** When it happened, if not now. A string is an ISO 8601 date-time. */
	occurredAt?: string | Date | undefined;
	/** The link that it is due to, if not the one of the device's last match. */
	linkId?: string | undefined;
};
