import type {ClickContext} from './click-context.ts';
import type {OpenMatch} from './open-match.ts';

/** A visit of a link: by a person, or by a crawler, which counts against no quota and in no click figure. */
export type Click = ClickContext & {
	organizationId: string;
	linkId: string;
	channel: string | null;
	referrerHost: string | null;
	/** What an app's first open may claim the click with; null where the link is not deferred. */
	match: OpenMatch | null;
};
