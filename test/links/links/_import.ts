import type {TestOrganization} from '../../helpers/builders.ts';
import {linesOf} from '../_answers.ts';

export type ImportedRow = {
	line: number;
	status: 'created' | 'updated' | 'skipped' | 'failed';
	id?: string;
	url?: string;
	error?: {statusCode: number; message: string; code?: string; quota?: string; details?: Array<{field: string}>};
};

const ndjson = (rows: unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
export const asNdjson = {'Content-Type': 'application/x-ndjson'};

/** Imports rows into an organization. @throws if the whole request is refused. */
export const importInto = async (
	{operator}: TestOrganization,
	rows: unknown[] | string,
	query = '',
): Promise<ImportedRow[]> => {
	const body = typeof rows === 'string' ? rows : ndjson(rows);
	const answer = await operator.post(`/links/import${query}`, body, asNdjson);
	if (answer.status !== 200) {
		throw new Error(answer.text);
	}

	return linesOf(answer.text);
};

export const statuses = (rows: ImportedRow[]) => rows.map(({status}) => status);
