import {matchPath} from './routes.ts';

/** One request that came in, JWKS reads included. */
export type Call = {
	method: string;
	/** Without the query. */
	path: string;
	query: URLSearchParams;
	headers: Record<string, string | string[] | undefined>;
	/** What was parsed, or the text if it is invalid; undefined without a body. */
	body: unknown;
	/** The answer; null without one, or before it. */
	status: number | null;
};

export type FaultInput = {
	/** How many calls it meets; 1 unless said, Infinity until it is lifted. */
	times?: number;
	method?: string;
	/** A path or a pattern, with `/v1` or without: `/organizations/:id/invitations`. */
	path?: string;
	/** Whether it applies to this call, for tests with equal methods and paths. */
	when?: (call: Call) => boolean;
	status?: number;
	code?: string;
	message?: string;
	/** Seconds, in the header `Retry-After`. */
	retryAfter?: number;
	/** A body that is not the API's JSON, such as a proxy's page. */
	rawBody?: string;
	/** Milliseconds before anything else happens; alone it only makes the call slow. */
	delay?: number;
	/** Never answers. */
	hang?: boolean;
	/** Ends the connection without an answer. */
	drop?: boolean;
	/** Executes the call before it fails, so that only the answer is lost. */
	afterwards?: boolean;
};

const withoutVersion = (path: string): string => path.replace(/^\/v1(?=\/)/, '');

const meets = ({method, path, when}: FaultInput, call: Call): boolean =>
	(method === undefined || method === call.method) &&
	(path === undefined || matchPath(withoutVersion(path), withoutVersion(call.path)) !== null) &&
	(when === undefined || when(call));

export const createFaults = () => {
	const faults = new Map<FaultInput, number>();
	return {
		add: (given: FaultInput) => {
			const input = {...given};
			faults.set(input, input.times ?? 1);
			return {
				/** Whether calls still meet it. */
				isOn: (): boolean => faults.has(input),
				lift: (): void => void faults.delete(input),
			};
		},
		clear: (): void => faults.clear(),
		/** The fault that meets a call, used up by one. */
		take: (call: Call): FaultInput | null => {
			for (const [input, left] of faults) {
				if (meets(input, call)) {
					if (left <= 1) {
						faults.delete(input);
					} else {
						faults.set(input, left - 1);
					}

					return input;
				}
			}

			return null;
		},
	};
};
