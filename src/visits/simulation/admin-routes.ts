import Joi from 'joi';
import {adminRoute} from '../../accounts/auth/route.ts';
import {linkFields} from '../../links/links/link-fields.ts';
import {MAX_SHORT_CODE} from '../../links/links/short-code.ts';
import {uuidField} from '../../platform/http/validate.ts';
import {readLanguage, readTimezone} from '../visit/visitor.ts';
import {type SimulationInput, simulateMatch, simulationAnswer} from './simulate-match.ts';
import {examplePhones, simulatedNetworks} from './simulated-phone.ts';

/** Maximum time from click to first open: twice the longest match window. */
const MAX_DELAY_SECONDS = 2 * linkFields.matchWindowHours.max * 3600;

const tested = (isValid: (text: string) => boolean, message: string, schema: object = {}) =>
	Joi.string()
		.custom((text: string, helpers) => (isValid(text) ? text : helpers.message({custom: `{{#label}} ${message}`})))
		.meta({schema: {description: `It ${message}.`, ...schema}});

/** Language, script, region and a variant. The server also accepts extensions of them; no pattern excludes two equal variants. */
const languageTag =
	'^(?:[A-Za-z]{2,3}|[A-Za-z]{5,8})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$';

const examplePhone = (field: 'osVersion' | 'deviceModel') => (parent: {platform?: unknown}) =>
	examplePhones[parent.platform === 'Android' ? 'Android' : 'iOS'][field];

const isPlatform = (platform: SimulationInput['platform']) => (parent: {platform?: unknown}) =>
	parent.platform === platform;

/** The body of a simulation; defaults are the usual case: the token arrives, on the same network, at once. */
const simulationBody = Joi.object<SimulationInput>({
	linkId: uuidField,
	shortCode: Joi.string().max(MAX_SHORT_CODE),
	query: Joi.object().pattern(/^/, Joi.string().allow('')).description('The query of the visited URL.'),
	platform: Joi.valid('iOS', 'Android').default('iOS'),
	osVersion: Joi.string()
		.pattern(/^\d{1,3}(?:\.\d{1,3}){0,2}$/)
		.default(examplePhone('osVersion'))
		.messages({'string.pattern.base': '{{#label}} must be a version such as 17.5.1'}),
	deviceModel: Joi.string().max(100).default(examplePhone('deviceModel')),
	language: tested((text) => text.length <= 35 && readLanguage(text) !== null, 'must be a language tag such as en-US', {
		maxLength: 35,
		pattern: languageTag,
	}).default('en-US'),
	timezone: tested((text) => readTimezone(text) !== null, 'must be an IANA time zone').default('America/New_York'),
	network: Joi.valid(...Object.keys(simulatedNetworks)).default('same'),
	delaySeconds: Joi.number().integer().min(0).max(MAX_DELAY_SECONDS).default(60),
	beacon: Joi.boolean().default(true),
	clipboard: Joi.boolean().default(isPlatform('iOS')),
	referrer: Joi.boolean()
		.when('platform', {is: 'Android', otherwise: Joi.valid(false)})
		.default(isPlatform('Android'))
		.messages({'any.only': '{{#label}} is only for Android: iOS has no install referrer'}),
	apiKey: Joi.boolean().default(true),
}).oxor('linkId', 'shortCode');

export const simulationRoutes = [
	adminRoute('POST', '/matches/simulate', {
		summary: 'Simulate a click and a first open',
		refusals: [410],
		answer: simulationAnswer,
		body: simulationBody,
		handler: ({services, organization, body}) => simulateMatch(services, {organization, input: body}),
	}),
];
