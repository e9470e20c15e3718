import Joi from 'joi';
import {invoiceNotFound} from '../errors.ts';
import {pageOf} from '../http/answer.ts';
import {route} from '../http/route.ts';
import {idParams, pageQuerySchema} from '../http/validate.ts';
import {limits} from '../limits/limits.ts';
import {planField} from '../plans/plan-field.ts';
import type {Currency} from '../plans/plans.ts';
import {
	billingPortalAnswer,
	checkoutAnswer,
	invoiceAnswer,
	paymentMethodsAnswer,
	pricesAnswer,
	subscriptionAnswer,
	subscriptionOrNullAnswer,
} from './billing-answers.ts';
import {cancelSubscription, openBillingPortal, resumeSubscription} from './cancel-subscription.ts';
import {changePlan} from './change-plan.ts';
import {startCheckout} from './checkout.ts';
import {createInvoiceStore} from './invoice-store.ts';
import {payRenewal} from './pay-renewal.ts';
import {listPaymentMethods} from './payment-method-store.ts';
import {planPrices} from './plan-for-sale.ts';
import {isEntitling, subscriptionJson} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

const currency = Joi.valid('USD', 'EGP');
const plan = planField.required();

const pricingQuery = Joi.object<{currency: Currency}>({currency: currency.default('USD')});
const checkoutBody = Joi.object<{plan: string; currency: Currency}>({plan, currency: currency.required()});
const changeBody = Joi.object<{plan: string; currency: Currency}>({plan, currency: currency.default('USD')});
const noBody = Joi.object({});

const forOwner = {credential: 'session', role: 'owner', limit: limits.portal} as const;

export const portalBillingRoutes = [
	route({
		method: 'GET',
		path: '/portal/billing/pricing',
		summary: 'List prices',
		answer: pricesAnswer,
		credential: 'none',
		limit: limits.portal,
		query: pricingQuery,
		handler: ({services, query}) => planPrices(services.config.plans, query.currency),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/checkout-session',
		summary: 'Open the first checkout',
		refusals: [409],
		answer: checkoutAnswer,
		...forOwner,
		body: checkoutBody,
		handler: ({services, organization, by, body}) => startCheckout(services, {organization, by, ...body}),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/change-plan',
		summary: 'Change the plan',
		refusals: [409],
		answer: checkoutAnswer,
		...forOwner,
		body: changeBody,
		handler: ({services, organization, by, body}) => changePlan(services, {organization, by, ...body}),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/cancel',
		summary: 'Cancel at the end of the period',
		refusals: [409],
		answer: subscriptionAnswer,
		...forOwner,
		body: noBody,
		handler: async ({services, organization, by}) => ({
			subscription: subscriptionJson(await cancelSubscription(services, {organization, by})),
		}),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/resume',
		summary: 'Undo a cancellation',
		refusals: [409],
		answer: subscriptionAnswer,
		...forOwner,
		body: noBody,
		handler: async ({services, organization, by}) => ({
			subscription: subscriptionJson(await resumeSubscription(services, {organization, by})),
		}),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/renew',
		summary: 'Pay the next period',
		refusals: [409],
		answer: checkoutAnswer,
		...forOwner,
		body: noBody,
		handler: ({services, organization, by}) => payRenewal(services, {organization, by}),
	}),

	route({
		method: 'GET',
		path: '/portal/billing/subscription/active',
		summary: 'Get the current subscription',
		answer: subscriptionOrNullAnswer,
		...forOwner,
		handler: async ({services, organization}) => {
			const found = await createSubscriptionStore(services.db).findOf(organization.id);
			const isActive = found !== null && isEntitling(found, services.clock.now());
			return {subscription: isActive ? subscriptionJson(found) : null};
		},
	}),

	route({
		method: 'GET',
		path: '/portal/billing/subscription',
		summary: 'Get the subscription',
		answer: subscriptionOrNullAnswer,
		...forOwner,
		handler: async ({services, organization}) => {
			const found = await createSubscriptionStore(services.db).findOf(organization.id);
			return {subscription: found === null ? null : subscriptionJson(found)};
		},
	}),

	route({
		method: 'GET',
		path: '/portal/billing/invoices',
		summary: 'List invoices, newest first',
		answer: pageOf(invoiceAnswer),
		...forOwner,
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createInvoiceStore(services.db).list(organization.id, query),
	}),

	route({
		method: 'GET',
		path: '/portal/billing/invoices/:id',
		summary: 'Get an invoice',
		answer: invoiceAnswer,
		...forOwner,
		params: idParams,
		handler: async ({services, organization, params}) => {
			const invoice = await createInvoiceStore(services.db).find(organization.id, params.id);
			if (invoice === null) {
				throw invoiceNotFound();
			}

			return invoice;
		},
	}),

	route({
		method: 'GET',
		path: '/portal/billing/payment-methods',
		summary: 'List saved cards, newest first',
		answer: paymentMethodsAnswer,
		...forOwner,
		handler: ({services, organization}) => listPaymentMethods(services.db, organization.id),
	}),

	route({
		method: 'POST',
		path: '/portal/billing/portal-session',
		summary: 'Open Stripe’s page for cards',
		refusals: [409],
		answer: billingPortalAnswer,
		...forOwner,
		body: noBody,
		handler: ({services, organization}) => openBillingPortal(services, organization),
	}),
];
