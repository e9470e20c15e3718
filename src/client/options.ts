import type {OplinkFetch} from './fetch-answer.ts';
import type {OplinkStorage} from './first-match.ts';

export type OplinkOptions = {
	/** The API host, such as `https://api.example.com`. */
	baseUrl: string;
	/** The host of links, if the installation has a separate link domain; default `baseUrl`. */
	linkBaseUrl?: string | undefined;
	/** Further hosts of your links, such as `['go.example.com']`: `resolveUrl` reads addresses on them and on `linkBaseUrl`. */
	linkDomains?: readonly string[] | undefined;
	/** `opl_sdk_…`, for apps and pages. */
	clientKey?: string | undefined;
	/** `opl_api_…`, for servers: it allows changing links. */
	serverKey?: string | undefined;
	/** Per attempt; default 10. */
	timeoutSeconds?: number | undefined;
	/** Per call, for all kinds of failure together; default 2. */
	maxRetries?: number | undefined;
	/** Default: the platform's. */
	fetch?: OplinkFetch | undefined;
	/** Waits between attempts, in seconds; replaced by tests. */
	sleep?: ((seconds: number) => Promise<unknown>) | undefined;
	/** Where `start` records that this installation was matched. Default: memory, so once per process. */
	storage?: OplinkStorage | undefined;
	/** Receives errors that are not thrown. Default: console.warn. */
	log?: ((message: string, error: unknown) => void) | undefined;
};
