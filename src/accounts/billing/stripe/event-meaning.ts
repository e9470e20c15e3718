import type Stripe from 'stripe';
import {uuidOrNull} from './read-subscription.ts';
import {idOf} from './stripe-client.ts';

/** The action that an event requires: to sync a subscription, to close a checkout, or nothing. */
export type Meaning =
	| {
			kind: 'subscription';
			id: string;
			/** From the metadata that Oplink set at the checkout; null for other subscriptions of the account. */
			organizationId: string | null;
			/** The event's invoice. */
			invoice: Stripe.Invoice | null;
			/** The last state of a subscription that Stripe may no longer know. */
			deleted: Stripe.Subscription | null;
	  }
	| {kind: 'expired'; sessionId: string; attemptId: string | null}
	| {kind: 'nothing'; reason: string};

/** Oplink's own metadata has both ids; other objects of the account may have one of them. */
const ownerOf = (metadata: Stripe.Metadata | null | undefined): string | null =>
	uuidOrNull(metadata?.['attemptId']) === null ? null : uuidOrNull(metadata?.['orgId']);

const nothing = (reason = 'The event has no subscription.'): Meaning => ({kind: 'nothing', reason});

const ofSubscription = (subscription: Stripe.Subscription, deleted: Stripe.Subscription | null = null): Meaning => {
	const id = idOf(subscription);
	const organizationId = ownerOf(subscription.metadata);
	return id === null ? nothing() : {kind: 'subscription', id, organizationId, invoice: null, deleted};
};

const ofSession = ({subscription, metadata}: Stripe.Checkout.Session): Meaning => {
	const id = idOf(subscription);
	return id === null
		? nothing()
		: {kind: 'subscription', id, organizationId: ownerOf(metadata), invoice: null, deleted: null};
};

const ofExpired = (session: Stripe.Checkout.Session): Meaning => {
	const sessionId = idOf(session);
	return sessionId === null
		? nothing('The event has no checkout.')
		: {kind: 'expired', sessionId, attemptId: uuidOrNull(session.client_reference_id)};
};

const ofInvoice = (invoice: Stripe.Invoice): Meaning => {
	const details = invoice.parent?.type === 'subscription_details' ? invoice.parent.subscription_details : null;
	const id = idOf(details?.subscription);
	return id === null
		? nothing()
		: {kind: 'subscription', id, organizationId: ownerOf(details?.metadata), invoice, deleted: null};
};

/** contract/billing 18: an event only says which object to read. */
export const meaningOf = (event: Stripe.Event): Meaning => {
	if (!event.data?.object) {
		return nothing('The event has no content.');
	}

	switch (event.type) {
		case 'checkout.session.completed':
		case 'checkout.session.async_payment_succeeded':
		case 'checkout.session.async_payment_failed':
			return ofSession(event.data.object);
		case 'checkout.session.expired':
			return ofExpired(event.data.object);
		case 'customer.subscription.created':
		case 'customer.subscription.updated':
			return ofSubscription(event.data.object);
		case 'customer.subscription.deleted':
			return ofSubscription(event.data.object, event.data.object);
		case 'invoice.paid':
		case 'invoice.payment_failed':
		case 'invoice.payment_action_required':
			return ofInvoice(event.data.object);
		default:
			return nothing(`Events of the type ${event.type} change nothing.`);
	}
};
