import Joi from 'joi';
import {
	answerOf,
	count,
	flag,
	instant,
	instantOrNull,
	partOf,
	text,
	textOrNull,
	uuid,
	uuidOrNull,
} from '../../platform/http/answer.ts';
import {organizationFields} from '../organizations/organization-schemas.ts';

const gateway = Joi.valid('GATEWAY_A', 'GATEWAY_B', 'MANUAL');
const currency = Joi.valid('USD', 'EGP');

// The shapes of contract/billing 3.
const subscription = answerOf('Subscription', {
	id: uuid,
	plan: text,
	status: Joi.valid('INACTIVE', 'ACTIVE', 'PAST_DUE', 'CANCELED'),
	gateway,
	currentPeriodStart: instantOrNull,
	currentPeriodEnd: instantOrNull,
	cancelAtPeriodEnd: flag,
	scheduledPlan: textOrNull,
	createdAt: instant,
	updatedAt: instant,
});
export const subscriptionAnswer = partOf({subscription});
export const subscriptionOrNullAnswer = partOf({subscription: subscription.allow(null)});

export const checkoutAnswer = answerOf('CheckoutSessionResult', {
	action: Joi.valid('CHECKOUT', 'UPGRADED', 'UPGRADE_CHECKOUT', 'SCHEDULED_DOWNGRADE', 'DOWNGRADE_CANCELLED'),
	gateway,
	checkoutUrl: textOrNull,
	sessionId: textOrNull,
	subscription,
});

const quota = count.allow(null);
export const pricesAnswer = Joi.array().items(
	answerOf('PlanPrice', {
		plan: text,
		currency,
		amount: count,
		interval: Joi.valid('month'),
		features: partOf({api_access: flag, custom_domains: flag}),
		quotas: partOf({links: quota, clicks: quota, members: quota, domains: quota}),
	}),
);

export const invoiceAnswer = answerOf('Invoice', {
	id: uuid,
	number: textOrNull,
	plan: textOrNull,
	amount: count,
	currency,
	paidAt: instant,
	periodStart: instantOrNull,
	periodEnd: instantOrNull,
	hostedUrl: textOrNull,
	pdfUrl: textOrNull,
});

export const paymentMethodsAnswer = Joi.array().items(
	answerOf('PaymentMethod', {id: uuid, brand: textOrNull, last4: textOrNull, createdAt: instant}),
);

export const billingPortalAnswer = partOf({url: text});

export const organizationOnPlanAnswer = answerOf('OrganizationOnPlan', {
	...organizationFields,
	subscription: subscription.allow(null),
});

/** An event of the ledger, for the operator. */
export const gatewayEventAnswer = answerOf('GatewayEvent', {
	id: uuid,
	gateway: Joi.valid('GATEWAY_A', 'GATEWAY_B'),
	eventKey: text,
	type: text,
	outcome: Joi.valid('APPLIED', 'IGNORED', 'UNMATCHED', 'REVIEW'),
	reason: text,
	organizationId: uuidOrNull,
	attemptId: uuidOrNull,
	reference: textOrNull,
	deliveries: count,
	receivedAt: instant,
	processedAt: instant,
});
