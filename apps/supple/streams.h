// Standard input, output and error under all circumstances: closed, full, or a pipe nobody reads.
#pragma once

namespace supple::app {

/// Makes the standard streams safe to use: closed ones lead to /dev/null, so that no file of ours
/// can take their place, and a reader that goes away (`| head`) does not end the program.
void prepare_streams();

/// Flushes standard output; false, with a message, when something could not be written. A reader
/// that has gone away is no failure.
bool finish_output();

}  // namespace supple::app
