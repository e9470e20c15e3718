import type Joi from 'joi';
import {checkBody} from '../../src/platform/http/validate.ts';
import type {TestOrganization} from '../helpers/builders.ts';
import type {Answer} from '../helpers/callers.ts';

/** The fields that a 400 names, sorted. */
export const fieldsOf = ({details}: {details: Array<{field: string}>}): string[] =>
	details.map(({field}) => field).sort();

/** The faults of a body as a route finds them, where the link domain is go.example.com. */
export const faultsIn = (schema: Joi.Schema, body: unknown) =>
	checkBody(schema, body, {linkHosts: ['go.example.com']}).faults;

/** The fields of the faults of a body, sorted. */
export const badFields = (schema: Joi.Schema, body: unknown) =>
	faultsIn(schema, body)
		.map(({field}) => field)
		.sort();

export type AuditRecord = {
	action: string;
	entityId: string;
	at: string;
	requestId: string;
	actor: {type: string};
	details: Record<string, unknown>;
};

/** What the audit log of an organization has about objects of one type, newest first. */
export const recordsOf = async ({operator}: TestOrganization, type: string): Promise<AuditRecord[]> => {
	const {body} = await operator.get('/audit-log?limit=100');
	return body.data.filter(({entityType}: {entityType: string}) => entityType === type);
};

/** The actions of those records, sorted. */
export const actionsOn = async (organization: TestOrganization, type: string): Promise<string[]> =>
	(await recordsOf(organization, type)).map(({action}) => action).sort();

/** The statuses of as many calls at once, sorted. */
export const atOnce = async (count: number, call: () => Promise<Answer>): Promise<number[]> =>
	(await Promise.all(Array.from({length: count}, call))).map(({status}) => status).sort();

/** The values of newline-delimited JSON. */
export const linesOf = (text: string) =>
	text
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line));
