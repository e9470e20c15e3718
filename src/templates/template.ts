import Joi from 'joi';
import {type SharedFields, type SharedFieldsInput, sharedFieldSchemas} from '../links/link-fields.ts';

/** A template in the API: defaults for fields that its links omit (contract/links 4). */
export type Template = {id: string; name: string} & SharedFields & {createdAt: Date; updatedAt: Date};

export type TemplateInput = SharedFieldsInput & {name: string};

const name = Joi.string().trim().max(255);
const fields = {...sharedFieldSchemas, path: sharedFieldSchemas.path.allow(null)};

export const newTemplate = Joi.object<TemplateInput>({name: name.required(), ...fields});
/** Null clears a field; a template always has a name. */
export const templateChanges = Joi.object<Partial<TemplateInput>>({name, ...fields});
