import {matchPath} from './match-path.ts';

/** One request that came in, JWKS reads included. */
export type Call = {
	method: string;
	/** Without the query. */
	path: string;
	query: URLSearchParams;
	headers: Record<string, string | string[] | undefined>;
	/** The parsed JSON, or the text if it is invalid; undefined without a body. */
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
	/** A body that is not the provider's JSON, such as a proxy's page. */
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

export type Fault = {
	/** Whether calls still meet it. */
	isOn(): boolean;
	lift(): void;
};

export type Faults = {
	add(input: FaultInput): Fault;
	clear(): void;
	/** The fault that meets a call, used up by one. */
	take(call: Call): FaultInput | null;
};

const withoutVersion = (path: string): string => path.replace(/^\/v1(?=\/)/, '');

const meets = ({method, path, when}: FaultInput, call: Call): boolean =>
	(method === undefined || method === call.method) &&
	(path === undefined || matchPath(withoutVersion(path), withoutVersion(call.path)) !== null) &&
	(when === undefined || when(call));

export const createFaults = (): Faults => {
	const faults = new Map<FaultInput, number>();
	return {
		add: (given) => {
			const input = {...given};
			faults.set(input, input.times ?? 1);
			return {isOn: () => faults.has(input), lift: () => faults.delete(input)};
		},
		clear: () => faults.clear(),
		take: (call) => {
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
