import {readFileSync} from 'node:fs';
import path from 'node:path';
import Joi from 'joi';
import {packageRoot} from '../package-root.ts';

const DAY_MS = 24 * 3600 * 1000;

/** `config/retention.json`: for how many days it is kept. */
export type Retention = {
	/** What a request for a match told, and how it was decided. */
	matchAttemptDays: number;
	/** A request for a match that belongs to no organization: anybody may send these, and only the operator reads them. */
	unownedAttemptDays: number;
	/** A record of the audit log, after what it records. */
	auditDays: number;
	/** An event of an app, after it happened; reports go on counting it. */
	eventDays: number;
	/** A device, after it was last seen. */
	deviceDays: number;
};

const days = Joi.number().integer().min(1).required();
const schema = Joi.object<Retention>({
	matchAttemptDays: days,
	unownedAttemptDays: days,
	auditDays: days,
	eventDays: days,
	deviceDays: days,
}).required();

let shipped: Retention | null = null;

/** The policy of `config/retention.json`, read at the first use. @throws with every fault of the file. */
export const retention = (): Retention => {
	shipped ??= Joi.attempt(
		JSON.parse(readFileSync(path.join(packageRoot, 'config', 'retention.json'), 'utf8')),
		schema,
	) as Retention;
	return shipped;
};

/** The moment so many days before. */
export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS);
