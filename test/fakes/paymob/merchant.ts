import {randomBytes, randomInt} from 'node:crypto';
import type {Clock} from '../../../src/platform/clock.ts';

/** A transaction as callbacks and answers show it (contract/billing 22). */
export type Transaction = {
	id: number;
	pending: boolean;
	amount_cents: number;
	success: boolean;
	is_auth: boolean;
	is_capture: boolean;
	is_standalone_payment: boolean;
	is_voided: boolean;
	is_refunded: boolean;
	is_3d_secure: boolean;
	integration_id: number;
	profile_id: number;
	has_parent_transaction: boolean;
	parent_transaction: number | null;
	is_refund: boolean;
	is_void: boolean;
	refunded_amount_cents: number;
	order: {
		id: number;
		created_at: string;
		merchant_order_id: string | null;
		amount_cents: number;
		currency: string;
		paid_amount_cents: number;
		merchant: {id: number; company_name: string};
		items: unknown[];
	};
	created_at: string;
	currency: string;
	error_occured: boolean;
	is_live: boolean;
	owner: number;
	api_source: string;
	terminal_id: null;
	source_data: {pan: string; type: string; sub_type: string};
	data: {message: string; txn_response_code: string};
	txn_response_code: string;
	payment_key_claims: {
		amount_cents: number;
		currency: string;
		order_id: number;
		integration_id: number;
		next_payment_intention: string;
		extra: Record<string, unknown>;
	};
};

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
	/** Whether a `special_reference` may come twice; what the real one does is not documented. */
	duplicateReferences: 'refused' | 'accepted';
	/** How the answer of a charge is wrapped; the guides differ. */
	payAnswer: 'bare' | 'wrapped';
	/** Which transaction a callback shows after a refund or a void. */
	refundCallbacks: 'parent' | 'child' | 'both';
};

export const defaultSettings: Settings = {
	duplicateReferences: 'refused',
	payAnswer: 'bare',
	refundCallbacks: 'parent',
};

export type Keys = {secretKey: string; publicKey: string; apiKey: string; hmacSecret: string};

/** All that the fake knows. Maps keep the order of creation. */
export type Merchant = {
	/** Of this server. */
	url: string;
	now(): Date;
	/** Now as the gateway writes it: without a zone, with microseconds that distinguish events. */
	timestamp(): string;
	nextId(): number;
	settings: Settings;
	keys: Keys;
	/** Integration ids from the dashboard: cards with the customer there, and charges without. */
	integrations: {card: number; moto: number};
	profileId: number;
	/** By order id. */
	intentions: Map<number, Intention>;
	transactions: Map<number, Transaction>;
	/** By token. */
	savedCards: Map<string, SavedCard>;
	/** By token; a card that is not named works. */
	cards: Map<string, CardBehavior>;
	/** Bearer tokens of the inquiry, and until when they hold. */
	authTokens: Map<string, Date>;
	charges: Charge[];
	emit(type: 'TRANSACTION' | 'TOKEN', object: Transaction | SavedCard, receiver: string | null): void;
};

export const randomToken = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex')}`;

/** The merchant before anything happened. Ids start anywhere, so that two runs over one database do not meet. */
export const createMerchant = ({
	clock,
	...given
}: Pick<Merchant, 'settings' | 'keys' | 'integrations' | 'emit'> & {clock: Clock}): Merchant => {
	let id = randomInt(100_000_000, 900_000_000);
	let micros = 0;
	return {
		...given,
		url: '',
		now: () => clock.now(),
		timestamp: () => {
			micros = (micros + 1) % 1000;
			return `${clock.now().toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}`;
		},
		nextId: () => {
			id += 1;
			return id;
		},
		profileId: 700_001,
		intentions: new Map(),
		transactions: new Map(),
		savedCards: new Map(),
		cards: new Map(),
		authTokens: new Map(),
		charges: [],
	};
};
