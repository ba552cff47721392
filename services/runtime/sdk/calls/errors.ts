import { maxCauses, maxFrames, relations, truncationMark } from '#domain/run/error/error.ts';
import type { ReportedError, ReportedErrors } from '../../reported-errors.ts';
import { storable } from '#services/shared/line-splitter.ts';
import Type, { type Static } from 'typebox';
import { answered, sdkCall, type SdkCalls } from '../call.ts';

const exception = {
  type: Type.String({ minLength: 1, maxLength: 1000 }),
  message: Type.String(),
  frames: Type.Array(
    Type.Object(
      {
        file: Type.String({ maxLength: 4096 }),
        line: Type.Integer({ minimum: 1 }),
        function: Type.String(),
        code: Type.String(),
      },
      { additionalProperties: false },
    ),
    { maxItems: maxFrames },
  ),
};

const Reported = Type.Object(
  {
    ...exception,
    causes: Type.Array(
      Type.Object(
        {
          ...exception,
          relation: Type.Enum(relations),
          depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
          omitted: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
        },
        { additionalProperties: false },
      ),
      { maxItems: maxCauses },
    ),
    exit_code: Type.Optional(Type.Integer({ minimum: 0, maximum: 255 })),
  },
  { additionalProperties: false },
);

/** Calls that report exceptions: uncaught exceptions, and those passed to `platform.report`. Texts are masked as in
 *  the log. */
export function errorCalls(errors: Pick<ReportedErrors, 'add'>): SdkCalls {
  return {
    error: sdkCall({
      arguments: Type.Object({ error: Reported }, { additionalProperties: false }),
      handle: async ({ error }, { run, log }) => {
        errors.add(
          run,
          reportedOf(error, (text) =>
            storable(
              text.length < maxTextLength
                ? log.masked(text)
                : `${log.maskedStart(text)}${truncationMark}`,
            ),
          ),
        );
        return await Promise.resolve(answered());
      },
    }),
  };
}

/** The maximum length of a text. The hook truncates longer texts, so a text of this length may be incomplete. */
const maxTextLength = 32 * 1024;

type Given = Static<typeof Reported>;

function reportedOf(
  { exit_code: exitCode, causes, ...error }: Given,
  shown: (text: string) => string,
): ReportedError {
  // Replaces control characters and line separators, because the names of classes and functions can contain any
  // characters.
  const name = (text: string) => shown(text).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '\uFFFD');
  const maskedOf = ({ type, message, frames }: Omit<Given, 'causes'>) => ({
    type: name(type),
    message: shown(message),
    frames: frames.map(({ line, ...texts }) => ({
      line,
      file: name(texts.file),
      function: name(texts.function),
      code: shown(texts.code),
    })),
  });
  return {
    ...maskedOf(error),
    causes: causes.map(({ relation, depth, omitted, ...cause }) => ({
      ...maskedOf(cause),
      relation,
      depth,
      omitted,
    })),
    exitCode,
  };
}
