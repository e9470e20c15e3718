import {randomBytes, randomInt} from 'node:crypto';
import type {Clock} from '../../../src/platform/clock.ts';
import type {Transaction} from './transactions.ts';

/** What a saved card does when it is charged next: `pending` answers late. */
export type CardBehavior = 'works' | 'declines' | 'pending';

/** A card whose token the customer let be saved (contract/billing 24). */
export type SavedCard = {
	id: number;
	token: string;
	masked_pan: string;
	merchant_id: number;
	card_subtype: string;
	created_at: string;
	email: string;
	/** Text here, a number in transactions. */
	order_id: string;
	user_added: boolean;
	next_payment_intention: string;
};

export type Intention = {
	id: string;
	clientSecret: string;
	orderId: number;
	amount: number;
	currency: string;
	integrations: number[];
	/** By integration: what charges it. */
	paymentKeys: Map<number, string>;
	items: unknown[];
	billingData: Record<string, unknown>;
	specialReference: string | null;
	extras: Record<string, unknown>;
	cardTokens: string[];
	notificationUrl: string | null;
	redirectionUrl: string | null;
	createdAt: string;
	expiresAt: Date;
	paid: number;
};

/** Money that was taken, and what it was for by what the service said. */
export type Charge = {
	transactionId: number;
	orderId: number;
	/** Minor units (piasters). */
	amount: number;
	currency: string;
	/** Whether a saved card was charged without the customer. */
	isMoto: boolean;
	specialReference: string | null;
	organizationId: string | null;
	attemptId: string | null;
	/** Given back, by refunds or a void. */
	refunded: number;
	at: Date;
};

export type Settings = {
	/** Which transaction a callback shows after a refund or a void. */
	refundCallbacks: 'parent' | 'child' | 'both';
};

export const defaultSettings: Settings = {refundCallbacks: 'parent'};

export type Keys = {secretKey: string; publicKey: string; apiKey: string; hmacSecret: string};

export const randomToken = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex')}`;

/**
 * All that the fake knows, before anything happened. Maps keep the order of creation. Ids start anywhere, so that two
 * runs over one database do not meet.
 */
export const createMerchant = ({
	clock,
	...given
}: {
	clock: Clock;
	settings: Settings;
	keys: Keys;
	emit(type: 'TRANSACTION' | 'TOKEN', object: Transaction | SavedCard, receiver: string | null): void;
}) => {
	let id = randomInt(100_000_000, 900_000_000);
	let micros = 0;
	return {
		...given,
		/** Of this server. */
		url: '',
		now: (): Date => clock.now(),
		/** Now as the gateway writes it: without a zone, with microseconds that distinguish events. */
		timestamp: (): string => {
			micros = (micros + 1) % 1000;
			return `${clock.now().toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}`;
		},
		nextId: (): number => {
			id += 1;
			return id;
		},
		/** Integration ids from the dashboard: cards with the customer there, and charges without. */
		integrations: {card: 4_000_001, moto: 4_000_002},
		profileId: 700_001,
		/** By order id. */
		intentions: new Map<number, Intention>(),
		transactions: new Map<number, Transaction>(),
		/** By token. */
		savedCards: new Map<string, SavedCard>(),
		/** By token; a card that is not named works. */
		cards: new Map<string, CardBehavior>(),
		/** Bearer tokens of the inquiry, and until when they hold. */
		authTokens: new Map<string, Date>(),
		charges: [] as Charge[],
	};
};

export type Merchant = ReturnType<typeof createMerchant>;
