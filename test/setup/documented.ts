import Joi from 'joi';
import {reservedSegments} from '../../src/accounts/organizations/org-key.ts';
import {openApiDocument} from '../../src/operations/openapi/document.ts';
import {templateOf} from '../../src/operations/openapi/operation.ts';
import {type Answer, errorAnswer} from '../../src/platform/http/answer.ts';
import type {DeclaredRoute} from '../../src/platform/http/route.ts';
import {routes} from '../../src/routes.ts';
import type {RecordedAnswer} from '../helpers/answers.ts';

/** The document of the API, as the server makes it. */
export const document = openApiDocument(routes, {
	publicUrl: 'http://api.test',
	linkUrl: 'http://link.test',
	version: '0',
});

const isResolution = ({path}: DeclaredRoute): boolean => /^\/:/.test(path);

const table = routes.map((route) => ({
	route,
	pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`),
}));

/** The route of a path, without its query; null if there is none. */
export const routeOf = (method: string, path: string): DeclaredRoute | null => {
	const [, first = ''] = path.split('/');
	const found = table.find(
		({route, pattern}) =>
			route.method === method && pattern.test(path) && !(isResolution(route) && reservedSegments.has(first)),
	);
	return found?.route ?? null;
};

const faultOf = (schema: Joi.Schema, text: string): string | null => {
	const {error} = schema.validate(JSON.parse(text), {convert: false});
	return error === undefined ? null : error.message;
};

const mediaFault = (answer: Answer, {type, text}: RecordedAnswer): string | null => {
	if (answer === null) {
		return type === null ? null : `a body of ${type}, where none is declared`;
	}

	if (Joi.isSchema(answer)) {
		return text === null ? `${type}, where JSON is declared` : faultOf(answer, text);
	}

	if (answer.json !== undefined && text !== null) {
		return faultOf(answer.json, text);
	}

	return answer.media.includes(String(type)) ? null : `${type}, where ${answer.media.join()} is declared`;
};

/** What every page of ours is protected by: `default-src` does not cover the others. */
const POLICIES = ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"];

/** The undocumented part of an answer, or the lack of a page's policy; null if there is neither. */
export const checkAnswer = (recorded: RecordedAnswer): string | null => {
	const {method, status, text, type, policy} = recorded;
	const [path = ''] = recorded.path.split('?', 1);
	// The one page with a form, on the API's host; a domain of an organization may have a link of that code.
	const forms = path === '/report' ? ['self', 'none'] : ['none'];
	const given = (policy ?? '').split('; ');
	const lacking =
		POLICIES.find((one) => !given.includes(one)) ??
		(forms.some((form) => given.includes(`form-action '${form}'`)) ? undefined : 'form-action');
	if (type === 'text/html' && lacking !== undefined) {
		return `HTML without ${lacking} in its policy`;
	}

	// The form's own answer is a page of every status; callers of the API send and get JSON.
	if (path === '/report' && method === 'POST' && type === 'text/html') {
		return null;
	}

	const isHead = method === 'HEAD';
	const route = routeOf(isHead ? 'GET' : method, path);
	if (route === null) {
		return status === 404 && text !== null && !isHead ? faultOf(errorAnswer, text) : null;
	}

	const declared = document.paths[templateOf(route.path)]?.[route.method.toLowerCase()]?.responses[status];
	if (declared === undefined) {
		return 'a status that is not declared';
	}

	if (isHead) {
		return null;
	}

	const {answer, otherAnswers = {}} = route.declared;
	if (status === route.status || otherAnswers[status] !== undefined) {
		const alternatives = [
			...(status === route.status ? [answer] : []),
			...(otherAnswers[status] === undefined ? [] : [otherAnswers[status]]),
		];
		const fault = alternatives.map((one) => mediaFault(one, recorded));
		if (fault.includes(null) || status < 400) {
			return fault.includes(null) ? null : (fault[0] ?? null);
		}
	}

	// A link domain serves no API: of its paths it may answer an organization's page (contract/resolution 25).
	if (status === 404 && type === 'text/html' && recorded.errorCode === 'unknown_path') {
		return null;
	}

	if (text === null) {
		return 'a refusal that is not valid JSON';
	}

	return recorded.errorCode === null ? 'a refusal without X-Error-Code' : faultOf(errorAnswer, text);
};
