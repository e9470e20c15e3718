import type {ClickContext} from './click-context.ts';
import type {OpenMatch} from './open-match.ts';

/** A visit of a link by a person or a crawler. A crawler's visit counts in no quota and no click figure. */
export type Click = {
	organizationId: string;
	linkId: string;
	channel: string | null;
	referrerHost: string | null;
	/** Shared by the clicks of visitors with equal headers, so that derived values are cached by it. */
	context: ClickContext;
	/** The data that an app's first open is matched by; null if the link is not deferred. */
	match: OpenMatch | null;
};
