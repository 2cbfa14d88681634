// The two kinds of connection, with Beast's types: for the server's own sources only, as these
// headers are slow to compile.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>

#include "viewer/hub.h"

namespace supple::viewer {

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;

/// Serves HTTP on a connection until one side closes it.
void start_http_session(Hub& hub, boost::asio::ip::tcp::socket socket);

/// Accepts the request as a WebSocket and serves it until one side closes it.
void start_socket_session(Hub& hub, boost::beast::tcp_stream stream, HttpRequest request);

}  // namespace supple::viewer
