import Joi from 'joi';
import {limits} from '../../platform/config/limits.ts';
import type {Currency} from '../../platform/config/plans.ts';
import {invoiceNotFound, required} from '../../platform/errors.ts';
import {pageOf} from '../../platform/http/answer.ts';
import {idParams, pageQuerySchema} from '../../platform/http/validate.ts';
import {portalRoute, route} from '../auth/route.ts';
import {planField} from '../organizations/organization-schemas.ts';
import {organizationJson} from '../organizations/organization-store.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {
	billingPortalAnswer,
	checkoutAnswer,
	invoiceAnswer,
	organizationOnPlanAnswer,
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
import {setOrganizationPlan} from './set-plan.ts';
import {isEntitling, type Subscription, subscriptionJson} from './subscription.ts';
import {createSubscriptionStore} from './subscription-store.ts';

const currency = Joi.valid('USD', 'EGP');
const plan = planField.required();

const pricingQuery = Joi.object<{currency: Currency}>({currency: currency.default('USD')});
const checkoutBody = Joi.object<{plan: string; currency: Currency}>({plan, currency: currency.required()});
const changeBody = Joi.object<{plan: string; currency: Currency}>({plan, currency: currency.default('USD')});
const noBody = Joi.object({});

/** The answer with a subscription; null: there is none. */
const withSubscription = (found: Subscription | null) => ({
	subscription: found === null ? null : subscriptionJson(found),
});

export const portalBillingRoutes = [
	route('GET', '/portal/billing/pricing', {
		summary: 'List prices',
		answer: pricesAnswer,
		credential: 'none',
		limit: limits.portal,
		query: pricingQuery,
		handler: ({services, query}) => planPrices(services.config.plans, query.currency),
	}),

	portalRoute('POST', '/billing/checkout-session', {
		summary: 'Open the first checkout',
		refusals: [409],
		answer: checkoutAnswer,
		role: 'owner',
		body: checkoutBody,
		handler: ({services, organization, by, body}) => startCheckout(services, {organization, by, ...body}),
	}),

	portalRoute('POST', '/billing/change-plan', {
		summary: 'Change the plan',
		refusals: [409],
		answer: checkoutAnswer,
		role: 'owner',
		body: changeBody,
		handler: ({services, organization, by, body}) => changePlan(services, {organization, by, ...body}),
	}),

	portalRoute('POST', '/billing/cancel', {
		summary: 'Cancel at the end of the period',
		refusals: [409],
		answer: subscriptionAnswer,
		role: 'owner',
		body: noBody,
		handler: async ({services, organization, by}) =>
			withSubscription(await cancelSubscription(services, {organization, by})),
	}),

	portalRoute('POST', '/billing/resume', {
		summary: 'Undo a cancellation',
		refusals: [409],
		answer: subscriptionAnswer,
		role: 'owner',
		body: noBody,
		handler: async ({services, organization, by}) =>
			withSubscription(await resumeSubscription(services, {organization, by})),
	}),

	portalRoute('POST', '/billing/renew', {
		summary: 'Pay the next period',
		refusals: [409],
		answer: checkoutAnswer,
		role: 'owner',
		body: noBody,
		handler: ({services, organization, by}) => payRenewal(services, {organization, by}),
	}),

	portalRoute('GET', '/billing/subscription/active', {
		summary: 'Get the current subscription',
		answer: subscriptionOrNullAnswer,
		role: 'owner',
		handler: async ({services, organization}) => {
			const found = await createSubscriptionStore(services.db).findOf(organization.id);
			return withSubscription(found !== null && isEntitling(found, services.clock.now()) ? found : null);
		},
	}),

	portalRoute('GET', '/billing/subscription', {
		summary: 'Get the subscription',
		answer: subscriptionOrNullAnswer,
		role: 'owner',
		handler: async ({services, organization}) =>
			withSubscription(await createSubscriptionStore(services.db).findOf(organization.id)),
	}),

	portalRoute('GET', '/billing/invoices', {
		summary: 'List invoices, newest first',
		answer: pageOf(invoiceAnswer),
		role: 'owner',
		query: pageQuerySchema,
		handler: ({services, organization, query}) => createInvoiceStore(services.db).list(organization.id, query),
	}),

	portalRoute('GET', '/billing/invoices/:id', {
		summary: 'Get an invoice',
		answer: invoiceAnswer,
		role: 'owner',
		params: idParams,
		handler: async ({services, organization, params}) =>
			required(await createInvoiceStore(services.db).find(organization.id, params.id), invoiceNotFound),
	}),

	portalRoute('GET', '/billing/payment-methods', {
		summary: 'List saved cards, newest first',
		answer: paymentMethodsAnswer,
		role: 'owner',
		handler: ({services, organization}) => listPaymentMethods(services.db, organization.id),
	}),

	portalRoute('POST', '/billing/portal-session', {
		summary: 'Open the gateway’s page for cards',
		refusals: [409],
		answer: billingPortalAnswer,
		role: 'owner',
		body: noBody,
		handler: ({services, organization}) => openBillingPortal(services, organization),
	}),
];

const planChange = Joi.object<{plan: string | null}>({plan: planField.allow(null).required()});

export const opsBillingRoutes = [
	route('POST', '/portal/admin/billing/organizations/:orgId/plan', {
		summary: 'Set the plan of an organization',
		refusals: [409],
		answer: organizationOnPlanAnswer,
		credential: 'ops',
		limit: limits.portal,
		params: orgParams,
		body: planChange,
		handler: async ({services, by, params: {orgId}, body: {plan}}) => {
			const named = await requireOrganization(services, orgId);
			const organization = await setOrganizationPlan(services, {organization: named, by, plan});
			const subscription = await createSubscriptionStore(services.db).findOf(organization.id);
			return {...organizationJson(organization), ...withSubscription(subscription)};
		},
	}),
];
