/** Social tags of a link's preview. */
export type OpenGraph = {title: string | null; description: string | null; imageUrl: string | null};

/** Destinations of people without the app, by platform. A platform that is not set is absent. */
export type Destinations = {ios?: string; ipad?: string; android?: string; desktop?: string};

/** The minimum version of the app that a link needs: dotted numbers, and Android's version code. */
export type MinimumVersion = {ios?: string; android?: number};

type Changes<T> = {[Field in keyof T]?: T[Field] | null};

/** Fields that are null if they are not set. */
type OptionalFields = {
	/** At most 255 characters. */
	title: string | null;
	/** At most 20, each of at most 50 characters. */
	tags: string[] | null;
	/** Values for the app beside the path: at most 50, 8192 bytes as JSON. */
	params: Record<string, string> | null;
	/** One of the organization's channels; an unknown one is 400. */
	channel: string | null;
	utmSource: string | null;
	utmMedium: string | null;
	utmCampaign: string | null;
	utmTerm: string | null;
	utmContent: string | null;
	/** Destination of people without the app: an http or https URL. */
	fallbackUrl: string | null;
	templateId: string | null;
	/** The caller's own name for the link, unique within the organization; at most 255 characters. */
	externalId: string | null;
};

/**
 * Fields of a link for create and update. Null unsets a field, so that the template's or organization's value applies.
 */
export type LinkFields = Partial<OptionalFields> & {
	/** Destinations of people without the app by platform, instead of the store; the iPad's falls back to that of iOS. */
	destinations?: Changes<Destinations> | null;
	/** The minimum version of the app: `{ios: '2.10.0', android: 210}`. */
	minimumVersion?: Changes<MinimumVersion> | null;
	og?: Partial<OpenGraph> | null;
	/** When the link expires (410). A string is an ISO 8601 date-time. */
	expiry?: string | Date | null;
	/** 1 to 64 of `A-Z a-z 0-9 _ -`, unique within the organization; generated if omitted. */
	shortCode?: string;
	/** null: the organization's default domain. */
	domainId?: string | null;
	isActive?: boolean | null;
	/** Whether the link's destination survives the installation of the app. */
	deferredDeepLinking?: boolean | null;
	/** 1 to 720. */
	matchWindowHours?: number | null;
};

/** `path`, the destination in the app (1 to 2048 characters), may come from a template that has one. */
export type NewLink = LinkFields & ({path: string} | {path?: string; templateId: string});

export type LinkChanges = LinkFields & {path?: string};

/** A link as create and update answer it. Times are ISO 8601 in UTC. */
export type Link = OptionalFields & {
	id: string;
	organizationId: string;
	domainId: string;
	shortCode: string;
	/** The short URL. */
	url: string;
	/** null if it comes from the template. */
	path: string | null;
	/** Only those of the link itself; absent if it has none. */
	destinations?: Destinations;
	minimumVersion?: MinimumVersion;
	og: OpenGraph;
	expiry: string | null;
	isActive: boolean;
	deferredDeepLinking: boolean;
	matchWindowHours: number;
	createdAt: string;
	updatedAt: string;
};

export type LinkDomain = {
	id: string;
	hostname: string;
	status: 'PENDING' | 'VERIFIED' | 'REJECTED';
	isDefault: boolean;
};

/** A link as list and get answer it. */
export type LinkWithDomain = Link & {domain: LinkDomain};

export type LinkQuery = {
	/** From 1; default 1. */
	page?: number | undefined;
	/** 1 to 100; default 20. */
	limit?: number | undefined;
	isActive?: boolean | undefined;
	/** A text in title, path or short code. */
	q?: string | undefined;
	tag?: string | undefined;
	channel?: string | undefined;
	externalId?: string | undefined;
};

/** One page of a list, and the number of items on all pages. */
export type Page<T> = {data: T[]; total: number; page: number; limit: number};

/** The destination in the app. */
export type LinkData = {
	linkId: string;
	path: string;
	params: Record<string, string>;
	/** The minimum version of the app that opens the link, if one is set. */
	minimumVersion?: MinimumVersion;
};

/** A link that an app creates, of a template that the organization has opened to apps. */
export type NewAppLink = {
	/** 8 to 100 characters. The same content of the same device is the same link. */
	deviceId: string;
	/** The template's name or id. */
	template: string;
	/** If the template opens them: values for the app beside the path, a title, a path below its prefix. */
	params?: Record<string, string> | undefined;
	title?: string | undefined;
	path?: string | undefined;
};

/** `stored`: a short link. Otherwise the address of an existing link with the params as its query. */
export type AppLink = {url: string; stored: boolean};
