/** One thing that happens to the organization of a sequence. Plain data, so that a failure can be pasted as a test. */
export type Step =
	/** Requests of the owner, ops and the operator. */
	| {do: 'checkout'; plan: PaidPlan; currency: 'USD' | 'EGP'}
	| {do: 'change'; plan: AnyPlan; currency?: 'USD' | 'EGP'}
	| {do: 'cancel' | 'resume' | 'renew' | 'delete'}
	| {do: 'ops'; plan: AnyPlan | 'ENTERPRISE' | null}
	/** The customer, at a page that was opened for them: `tab` counts back from the newest. */
	| {do: 'pay'; tab?: number; save?: boolean; delayed?: boolean}
	| {do: 'decline' | 'linger'; tab?: number}
	/** What became of a payment that waited for the bank. */
	| {do: 'bank'; ok: boolean}
	/** How the customer's cards answer charges without the customer from now on. */
	| {do: 'card'; does: 'works' | 'declines' | 'hesitates'}
	| {do: 'leave'}
	/** In Paymob's dashboard: the newest payment is refunded. */
	| {do: 'refund' | 'void'}
	/** Deliveries of both gateways. */
	| {
			do: 'deliver';
			how?: 'in order' | 'backwards' | 'newest' | 'oldest' | 'twice' | 'lose' | 'lose for good' | 'old ones again';
	  }
	/** Deliveries come while that runs which causes them. */
	| {do: 'eager'; on: boolean}
	/** A call to a gateway fails: the first from now on, or one after it. */
	| {do: 'fault'; gateway: 'A' | 'B'; how: 'refuse' | 'drop' | 'drop after'; after?: number}
	| {do: 'wait'; minutes: number}
	/** The service dies before the `at`th thing it does for that, and is started again a minute later. */
	| {do: 'crash'; at: number; during: Step}
	/** All at once. */
	| {do: 'together'; steps: Step[]}
	/** Everything is delivered, and the jobs have run until nothing is left to do. */
	| {do: 'quiet'};

export type PaidPlan = 'SOLO' | 'GROWTH' | 'SCALE';
export type AnyPlan = PaidPlan | 'STARTER';

export const DAY_MINUTES = 1440;
