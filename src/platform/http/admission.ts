import type {Services} from '../../services.ts';
import type {Scope} from '../config/operator-scopes.ts';
import type {Role} from '../config/roles.ts';
import type {LimitSubject} from '../limits/enforce-limit.ts';

/** The kinds of credentials. */
export type Credential = 'none' | 'user' | 'session' | 'ops' | 'serverKey' | 'clientKey' | 'admin' | 'signature';

/** The values that each kind of credential provides to a handler. */
export type Grants = Record<Credential, object>;

/** The parts of a request that name its caller. */
export type CallerData = {
	authorization: string | undefined;
	/** The organization in a session's query or an operator's path, read after the credential and the limit. */
	orgId: () => string | null;
	requestId: string;
	userAgent: string | undefined;
	/** The bytes of a webhook's body; other routes get it parsed, or as a stream. */
	rawBody: () => Promise<Buffer>;
};

/** Further requirements of a route on its caller. */
export type CallerRule = {
	/** The lowest sufficient role of a session; null for any. */
	role: Role | null;
	/** Whether unfinished sessions are admitted, and organizations that are not mirrored yet are fetched. */
	onboarding: boolean;
	/** The scope that an operator needs; null for none. */
	scope: Scope | null;
};

/**
 * A caller with a valid credential, before the request counts against the limit.
 * @property subject counted by the limit; null for the address. @property owner of the key. @property grant runs the
 * checks that follow the limit (contract/requests 9) and returns the handler's input.
 */
export type Admitted<T> = {subject: string | null; owner: LimitSubject['owner']; grant: () => Promise<T>};

/** The checks of callers, by kind of credential. @throws 401, 403. */
export type Admission<G extends Grants> = {
	admit: {[C in Credential]: (services: Services, caller: CallerData, rule: CallerRule) => Promise<Admitted<G[C]>>};
	/** Whether the organization that a request names by UUID or orgKey is suspended. */
	isSuspended: (services: Services, organization: string) => Promise<boolean>;
};
