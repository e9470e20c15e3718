import type {ExecutionContext} from 'ava';
import type {Answer} from '../../helpers/callers.ts';

/** Asserts status and message of a refusal, and the code of a structured one. */
export const refused = (
	t: ExecutionContext,
	{status, body}: Answer,
	expected: {status: number; message: string; code?: string},
): void => {
	t.deepEqual({status, message: body?.message, code: body?.code}, {code: undefined, ...expected});
	t.is(body.statusCode, expected.status);
};

export const missing = {status: 401, message: 'Missing or invalid Authorization header'};
export const noRole = {status: 403, message: 'Missing or invalid role claim'};
export const tooLow = {status: 403, message: 'Insufficient role'};
export const noOrganization = {status: 403, message: 'User does not belong to a valid organization'};
export const noMember = {status: 403, message: 'User is not a member of this organization'};
export const notActive = {status: 403, message: 'Organization is not active'};
export const opsOnly = {status: 403, message: 'Ops access required'};
export const invalid = {status: 400, message: 'Validation failed'};
export const spent = {status: 429, message: 'Rate limit exceeded. Retry after 3600 second(s).'};
